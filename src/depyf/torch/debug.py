"""`debug`: run a program so that a debugger steps through the files of its dump."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from depyf.report.model import Transformed
from depyf.torch.active import ACTIVE
from depyf.torch.adapters import seams
from depyf.torch.stepping import Steps, find_steps, running_from_files
from depyf.torch.told import TOLD

PAUSE_VARIABLE = "DEPYF_DEBUG_PAUSE"
"""Set to `0` to switch the pause off where `debug` is called without saying."""


@contextmanager
def debug(pause: bool | None = None) -> Iterator[None]:
    """Tell where the files are and which lines to break at, pause, and run the body on the code in those files.

    Transformed code and resume functions run from their files in any case. Here captured, forward and backward graphs,
    the wrappers that AOTAutograd generates, and Inductor's wrappers do so too, where the text of a file is proven to
    be the code that runs. Inside, torch compiles nothing anew: what no entry fits runs as the user wrote it. So a
    debugger's own callbacks are not compiled, and no call is served by code that has no file.

    Args:
        pause: wait for the return key before the body; by default unless `DEPYF_DEBUG_PAUSE=0` is set.

    Raises:
        RuntimeError: inside of `prepare_debug`, whose files are not complete yet.
    """
    if ACTIVE.is_any_entered():
        raise RuntimeError("depyf.debug() inside of depyf.prepare_debug(): leave that context first, it has the files")
    steps = {directory: [find_steps(live, directory) for live in told.live] for directory, told in TOLD.items()}
    for line in _places(steps):
        print(line)
    if pause if pause is not None else os.environ.get(PAUSE_VARIABLE, "1") != "0":
        _wait()
    with seams.without_compiling(), running_from_files([each for found in steps.values() for each in found]):
        yield


def _places(steps: dict[Path, list[Steps]]) -> list[str]:
    lines = [
        line
        for directory, found in steps.items()
        for line in (f"depyf: files are in {directory}", *(line for each in found for line in _lines(directory, each)))
    ]
    return lines or ["depyf: there are no files yet; run the program in depyf.prepare_debug(directory) first"]


def _lines(directory: Path, steps: Steps) -> Iterator[str]:
    """Say where to break in what was compiled once."""
    compiled = steps.compile
    transformed = compiled.transformed
    place = f"  {compiled.name}, compile {compiled.id}:"
    if isinstance(transformed, Transformed) and transformed.installed and transformed.file:
        path = directory / transformed.file
        yield f"{place} break at {path}:{_first_line(path, compiled.name)}"
    elif isinstance(transformed, Transformed):
        yield f"{place} Dynamo's own code runs, which has no file ({transformed.reason})"
    first_of_file = {each.path: each for each in reversed(steps.files)}
    for path, each in reversed(first_of_file.items()):
        yield f"    {each.function.__name__}: break at {path}:{each.line}"
    if steps.reason:
        yield f"    no graph can be stepped: {steps.reason}"


def _first_line(path: Path, name: str) -> int:
    """Return the line of the first statement of a function in a file, the first line of the file if it has none."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    define = re.compile(rf"\s*(async )?def {re.escape(name)}\(")
    for number, line in enumerate(lines, start=1):
        if define.match(line):
            below = (later for later, text in enumerate(lines[number:], start=number + 1) if not _is_comment(text))
            return next(below, number)
    return 1


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _wait() -> None:
    try:
        input("depyf: set your breakpoints now, then press return to go on ")
    except EOFError:
        print("depyf: there is no terminal to wait at, going on")
