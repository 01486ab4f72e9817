"""What compiling changed: lines beside their time without compiled code, in groups where both can be compared.

A kernel that computes several lines has one time for them all, and without compiled code each line has its own: only
lines that no kernel connects can be compared one by one.
before: line 3 costs 2 ms, lines 3 and 4 together 1 ms; without compiled code line 3 takes 4 ms and line 4 takes 5 ms
after: lines 3 and 4: 3 ms compiled, 9 ms without
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from depyf.report.links.origins import Origin
from depyf.report.profile.tables import Row


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that kernels connect: their seconds of a step compiled and without compiled code."""

    lines: tuple[Origin, ...]
    compiled: float
    eager: float

    @property
    def slower(self) -> float:
        """Return the seconds that compiling adds to a step; below 0 it saves them."""
        return self.compiled - self.eager


def groups(rows: Sequence[Row], eager: Mapping[Origin, float]) -> list[Group]:
    """Return the groups of lines whose time without compiled code is known, those that compiling slows down first."""
    of: dict[Origin, set[Origin]] = {}
    for row in rows:
        together = set(row.lines).union(*(of.get(line, ()) for line in row.lines))
        of.update(dict.fromkeys(together, together))
    compiled = dict.fromkeys((frozenset(each) for each in of.values()), 0.0)
    for row in rows:
        compiled[frozenset(of[row.lines[0]])] += row.seconds
    found = [
        Group(tuple(sorted(lines)), seconds, sum(eager.get(line, 0.0) for line in lines))
        for lines, seconds in compiled.items()
        if any(line in eager for line in lines)
    ]
    return sorted(found, key=lambda group: (-group.slower, group.lines))
