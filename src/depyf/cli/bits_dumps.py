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
from depyf.findings.bits_compared import BitsComparison, compared, token_at
from depyf.model.bits_log import BitsLog, read_bits, recorded_folders
from depyf.views.bits_text import bits_json, bits_lines


class NoComparison(ValueError):
    """Two dumps cannot be compared: the message says why."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Two folders with recorded bits, the comparison, and the names of the folders as the user wrote them."""

    names: tuple[str, str]
    folders: tuple[Path, Path]
    comparison: BitsComparison

    def text(self, values: dict[str, Any] | None, hint: str) -> Iterator[str]:
        """Yield the lines of the comparison. `values` are those of the first kernel, if they were compared."""
        about_values = [f"  values and line: {hint}"] if hint else []
        yield from bits_lines(self.comparison, self.names, about_values if values is None else values["text"])

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


def hint(sides: Sides, typed: list[str]) -> str:
    """Return the words for how to compare the values of the first kernel, or "" if no kernel differs.

    Args:
        sides: the comparison.
        typed: the arguments of `depyf bits`, as the user typed them.
    """
    places = _places(sides)
    if places is None:
        return ""
    if all(map(_can_run, sides.comparison.logs)):
        command = shlex.join(["depyf", "bits", "--again", *typed])
        return f"`{command}` runs both programs once more"
    options = [f"`--bits-of {place}` for {name}" for place, name in zip(places, sides.names, strict=True)]
    return f"record both once more with `depyf run`, {' and '.join(options)}, and compare these dumps"


def _places(sides: Sides) -> tuple[str, str] | None:
    """Return the launch of the first kernel that differs in both runs, as `--bits-of` takes it."""
    first = sides.comparison.first
    if first is None or first.kernel is None:
        return None
    modules, spots = first.modules, first.kernel.positions
    return (
        f"{modules[0].number}.{first.call}.{spots[0][0]}",
        f"{modules[1].number}.{first.call}.{spots[1][0]}",
    )


def _can_run(log: BitsLog) -> bool:
    """Return whether the program of a run can run here again: on this machine, and not as one rank of a job."""
    facts = log.facts
    is_rank = "RANK" in facts["environment"]
    words = shlex.split(facts["command"])
    scripts = [word for word in words[1:] if word.endswith(".py")]
    is_here = os.path.isdir(facts["directory"]) and os.path.exists(words[0])
    return is_here and not is_rank and all(os.path.exists(os.path.join(facts["directory"], name)) for name in scripts)


def values_of(sides: Sides, *, again: bool) -> dict[str, Any] | None:
    """Compare the values of the first kernel that differs: those that the runs kept, or those of second runs.

    Args:
        sides: the comparison.
        again: whether to run both programs again if the runs did not keep the values of this kernel.

    Returns:
        the lines of the text, and the data; None if there is nothing to compare.

    Raises:
        NoComparison: a program cannot run again, or it gave other bits than in its first run.
    """
    places, logs = _places(sides), sides.comparison.logs
    if places is None:
        return None
    if all(log.facts.get("kept") == place for log, place in zip(logs, places, strict=True)):
        return _compared(sides, sides.folders)
    if not again:
        return None
    for log, name in zip(logs, sides.names, strict=True):
        if not _can_run(log):
            raise NoComparison(f"the program of {name} cannot run again here: {log.facts['command']}")
    with tempfile.TemporaryDirectory() as scratch:
        folders = Path(scratch, "0"), Path(scratch, "1")
        for number, folder in enumerate(folders):
            _run_again(logs[number], folder, places[number])
            _check_repeated(sides, number, folder)
        return _compared(sides, folders)


def _check_repeated(sides: Sides, side: int, folder: Path) -> None:
    """Compare the hash of the result in the second run of a program with that in its first run.

    Raises:
        NoComparison: the hashes differ.
    """
    first = sides.comparison.first
    assert first is not None and first.kernel is not None
    number, spot = first.modules[side].number, first.kernel.positions[side]
    try:
        token = token_at(read_bits(folder), number, first.call, spot)
    except (OSError, ValueError):
        token = ""
    if token != token_at(sides.comparison.logs[side], number, first.call, spot):
        reason = "it depends on variables or files that have changed, or it is not deterministic"
        raise NoComparison(f"the program of {sides.names[side]} gave other bits when it ran again: {reason}")


def _compared(sides: Sides, folders: tuple[Path, Path]) -> dict[str, Any]:
    first = sides.comparison.first
    assert first is not None and first.kernel is not None
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "values.json"
        asked = json.dumps({"position": [spot[1] for spot in first.kernel.positions], "output": str(output)})
        command = [sys.executable, "-m", "depyf.torch.bits.kept_values", asked, *map(str, folders)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise NoComparison(ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else "no values were kept")
        content: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return content


def _run_again(log: BitsLog, folder: Path, place: str) -> None:
    python, *words = shlex.split(log.facts["command"])
    rest = [word for number, word in enumerate(words) if not (word in _OF_PYTHON and number == 0)]
    changed = [f"--set={name}={value}" for name, value in log.facts.get("set", {}).items()]
    command = [python, "-m", "depyf", "run", "--no-html", "--bits-of", place, *changed, "-o", str(folder), *rest]
    environment = {**os.environ, **log.facts["environment"]}
    subprocess.run(command, cwd=log.facts["directory"], env=environment, capture_output=True, check=False)


_OF_PYTHON = ("-B", "-O", "-E", "-s", "-u")
"""Options of Python that may stand before the program."""
