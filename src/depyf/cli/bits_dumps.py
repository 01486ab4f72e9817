"""`depyf bits A B`: the first tensor that differs between two runs that were recorded with `depyf run --bits`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.findings.bits_compared import BitsComparison, compared
from depyf.model.bits_log import BitsLog, read_bits, recorded_folders
from depyf.views.bits_text import bits_json, bits_lines

EITHER = "values.json"


class NoComparison(ValueError):
    """Two dumps cannot be compared: the message says why."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Two folders with recorded bits, the comparison, and the names of the folders as the user wrote them."""

    names: tuple[str, str]
    folders: tuple[Path, Path]
    comparison: BitsComparison

    def text(self, values: dict[str, Any] | None, again: str) -> Iterator[str]:
        """Yield the lines of the comparison, and of the values of the first kernel if they were compared."""
        yield from bits_lines(self.comparison, self.names, again if values is None else "")
        if values is not None:
            yield from values["text"]

    def data(self, values: dict[str, Any] | None) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return bits_json(self.comparison, self.names) | {"values": None if values is None else values["data"]}


def compared_dumps(ours: Path, theirs: Path) -> list[Sides]:
    """Return the comparisons of two dumps: of the dumps themselves, or of each rank with its counterpart.

    Raises:
        NoComparison: one dump has no recorded bits, or there is no process in both.
    """
    left, right = recorded_folders(ours), recorded_folders(theirs)
    for directory, folders in ((ours, left), (theirs, right)):
        if not folders:
            raise NoComparison(f"{directory} has no recorded bits: make it with `depyf run --bits -o {directory} ...`")
    names = [name for name in left if name in right]
    if not names and len(left) == len(right) == 1:
        names, right = list(left), dict(zip(left, right.values(), strict=True))
    if not names:
        raise NoComparison(f"no process of {ours} is one of {theirs}: {', '.join(left)}; {', '.join(right)}")
    return [_sides((ours, theirs), (left[name], right[name])) for name in names]


def _sides(dumps: tuple[Path, Path], folders: tuple[Path, Path]) -> Sides:
    try:
        logs = read_bits(folders[0]), read_bits(folders[1])
    except (OSError, ValueError) as error:
        raise NoComparison(str(error)) from error
    names = str(folders[0]), str(folders[1])
    return Sides(names, folders, compared(*logs))


def again_command(sides: Sides, typed: list[str]) -> str:
    """Return the command that runs both programs again, or "" if that cannot help.

    Args:
        sides: the comparison.
        typed: the arguments of `depyf bits`, as the user typed them.
    """
    first = sides.comparison.first
    is_possible = first is not None and first.kernel is not None and all(map(_can_run, sides.comparison.logs))
    return shlex.join(["depyf", "bits", "--again", *typed]) if is_possible else ""


def _can_run(log: BitsLog) -> bool:
    """Return whether the program of a run can run here again: on this machine, and not as one rank of a job."""
    facts = log.facts
    is_rank = "RANK" in facts["environment"]
    words = shlex.split(facts["command"])
    scripts = [word for word in words[1:] if word.endswith(".py")]
    is_here = os.path.isdir(facts["directory"]) and os.path.exists(words[0])
    return is_here and not is_rank and all(os.path.exists(os.path.join(facts["directory"], name)) for name in scripts)


def values_of(sides: Sides) -> dict[str, Any] | None:
    """Run both programs again, keep the values of the first kernel that differs, and compare them.

    Returns:
        the lines of the text, and the data; None if no kernel differs.

    Raises:
        NoComparison: a program cannot run again, or the kernel did not run again.
    """
    first = sides.comparison.first
    if first is None or first.kernel is None:
        return None
    for log, name in zip(sides.comparison.logs, sides.names, strict=True):
        if not _can_run(log):
            raise NoComparison(f"the program of {name} cannot run again here: {log.facts['command']}")
    with tempfile.TemporaryDirectory() as scratch:
        folders = []
        for number, log in enumerate(sides.comparison.logs):
            folder, place = Path(scratch) / str(number), first.kernel.positions[number][0]
            _run_again(log, folder, f"{first.modules[number].number}.{first.call}.{place}")
            folders.append(folder)
        output = Path(scratch) / EITHER
        asked = json.dumps({"position": [spot[1] for spot in first.kernel.positions], "output": str(output)})
        command = [sys.executable, "-m", "depyf.torch.bits.kept_values", asked, *map(str, folders)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise NoComparison(ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else "no values were kept")
        content: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return content


def _run_again(log: BitsLog, folder: Path, place: str) -> None:
    python, *words = shlex.split(log.facts["command"])
    options = [word for word in words if word in ("-B", "-O", "-E", "-s", "-u")]
    rest = words[len(options) :]
    command = [python, "-m", "depyf", "run", "--no-html", "--bits-of", place, "-o", str(folder), *rest]
    environment = {**os.environ, **log.facts["environment"]}
    subprocess.run(command, cwd=log.facts["directory"], env=environment, capture_output=True, check=False)
