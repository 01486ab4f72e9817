"""What a part is given and what it tells: its device, and a file that gets each number as soon as it is known."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

MOST_DETAILS = 40


@dataclass(frozen=True)
class Check:
    """One number of a part.

    what: the claim in words.
    number: the measured value.
    met: whether its bar is met; None for a number without a bar, and for what was skipped.
    details: what to look at.
    """

    what: str
    number: str
    met: bool | None
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """Where a part runs: on `cuda`, or on `cpu` in a small form that only shows that the part works.

    folder: for the dumps of the part.
    seconds: the time that the part has.
    """

    device: str
    folder: Path
    seconds: float

    @property
    def is_small(self) -> bool:
        """Return whether only the part itself is tried."""
        return self.device != "cuda"

    @property
    def backend(self) -> str:
        """Return the backend of models: Inductor, or without a GPU one that needs no compiler."""
        return "aot_eager" if self.is_small else "inductor"


class Told:
    """Writes each check as a line of JSON, so that a part that is killed loses none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, what: str, number: object, met: bool | None = None, details: Sequence[object] = ()) -> None:
        """Write a check."""
        check = Check(what, str(number), met, tuple(str(detail) for detail in details[:MOST_DETAILS]))
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(check)) + "\n")
        print(line(check), file=sys.stderr, flush=True)

    def none_of(self, what: str, problems: Sequence[object], of: int) -> None:
        """Write a check that is met if there are no problems among `of` things, and at least one thing."""
        self.add(what, f"{len(problems)} of {of}", not problems and of > 0, problems)

    def skipped(self, what: str, why: str) -> None:
        """Write that something was not measured."""
        self.add(what, f"skipped: {why}")


def read(path: Path) -> list[Check]:
    """Return the checks in a file; the last line may be cut off where the part was killed."""
    if not path.exists():
        return []
    rows = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [Check(**{**json.loads(row), "details": tuple(json.loads(row)["details"])}) for row in rows]


def line(check: Check) -> str:
    """Return a check as a line of the table."""
    word = {True: "met", False: "NOT MET", None: "-"}[check.met]
    return f"{word:8} {check.what}: {check.number}"
