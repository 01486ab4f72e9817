"""The levels of proof for two code objects."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from depyf.bytecode.records import dataclass

if TYPE_CHECKING:
    from depyf.bytecode.code import Code


@enum.unique
class Level(enum.IntEnum):
    """A proven level, weakest first, so that the `min` of several levels holds for all.

    UNPROVEN: nothing.
    EQUIVALENT: the same observable effects on equal operands in the same order, on every path.
    EXACT: the same normalised instructions on every path.
    """

    UNPROVEN = 0
    EQUIVALENT = 1
    EXACT = 2

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Place:
    """A pair of instructions of a pair of (nested) code objects, by index in their listings.

    A negative index means that this side has left the code.
    """

    original: Code
    candidate: Code
    original_index: int
    candidate_index: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The proven level, and where the proof of a higher level failed.

    reason: empty for EXACT; for EQUIVALENT why it is not EXACT; for UNPROVEN why it is not EQUIVALENT.
    where: the first difference, if `reason` has a place.
    outlives: whether the only unproven fact is that no value lives longer.
    """

    level: Level
    reason: str = ""
    where: Place | None = None
    outlives: bool = False

    def __str__(self) -> str:
        return f"{self.level}: {self.reason}" if self.reason else str(self.level)
