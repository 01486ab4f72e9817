"""Where to break: the files that a program's functions run in, and the first line of each, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from depyf.model.run import Transformed
from depyf.torch.stepping.stepping import Steps


def places(steps: Mapping[Path, list[Steps]], dropped: Mapping[Path, int]) -> list[str]:
    """Return where to break in the files of each directory, and how many compiles torch has dropped since."""
    lines = []
    for directory, found_steps in steps.items():
        lines.append(f"depyf: files are in {directory}")
        lines += [line for of_compile in found_steps for line in lines_about(directory, of_compile)]
        if number := dropped.get(directory, 0):
            lines.append(
                f"  {number} other compile{'s' if number > 1 else ''}: dropped by torch since, nothing runs there"
            )
    return lines or ["depyf: there are no files yet; run the program in depyf.prepare_debug(directory) first"]


def lines_about(directory: Path, steps: Steps) -> Iterator[str]:
    """Yield where to break in the functions of one compile."""
    compiled = steps.compile
    transformed = compiled.transformed
    place = f"  {compiled.name}, compile {compiled.id}:"
    if isinstance(transformed, Transformed) and not steps.why_not_transformed and transformed.file:
        path = directory / transformed.file
        yield f"{place} break at {path}:{_first_line(path, compiled.name)}"
    elif isinstance(transformed, Transformed):
        yield f"{place} Dynamo's own code runs, which has no file ({steps.why_not_transformed or transformed.reason})"
    first_of_file = {file.path: file for file in reversed(steps.files)}
    for path, file in reversed(first_of_file.items()):
        yield f"    {file.function.__name__}: break at {path}:{file.line}"
    for kernel in {(kernel.path, kernel.line): kernel for kernel in steps.kernels}.values():
        yield f"    {kernel.function.__name__}, interpreted: break at {kernel.path}:{kernel.line}"
    if steps.reason:
        yield f"    no graph can be stepped: {steps.reason}"


def _first_line(path: Path, name: str) -> int:
    """Return the line of a function's first statement in a file, or the file's first line without that function."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    define = re.compile(rf"\s*(async )?def {re.escape(name)}\(")
    for number, line in enumerate(lines, start=1):
        if define.match(line):
            below = (later for later, text in enumerate(lines[number:], start=number + 1) if not _is_comment(text))
            return next(below, number)
    return 1


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")
