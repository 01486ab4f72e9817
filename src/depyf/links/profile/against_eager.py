"""Compare the time of lines with and without compiled code, in groups that can be compared.

A kernel that computes several lines has one time for all of them. Without compiled code each line has its own time. So
only lines that share no kernel can be compared one by one.
before: line 3 costs 2 ms, lines 3 and 4 together 1 ms; without compiled code line 3 takes 4 ms and line 4 takes 5 ms
after: lines 3 and 4: 3 ms compiled, 9 ms without
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, stdev

from depyf.bytecode.records import dataclass
from depyf.links.origins import Origin
from depyf.links.profile.comparison import SPREADS
from depyf.links.profile.tables import Row


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that share kernels: their seconds per step with and without compiled code.

    noise: a difference of at most this many seconds is not significant, because steps of one kind vary as much.
    """

    lines: tuple[Origin, ...]
    compiled: float
    eager: float
    noise: float

    @property
    def slower(self) -> float:
        """Return the seconds that compiling adds to a step; negative if it saves time."""
        return self.compiled - self.eager


def groups(rows: Sequence[Row], eager: Mapping[Origin, Sequence[float]]) -> list[Group]:
    """Return the groups of lines whose time without compiled code is known, starting with the most slowed down."""
    of: dict[Origin, set[Origin]] = {}
    for row in rows:
        together = set(row.lines).union(*(of.get(line, ()) for line in row.lines))
        of.update(dict.fromkeys(together, together))
    compiled: dict[frozenset[Origin], list[Row]] = {frozenset(together): [] for together in of.values()}
    for row in rows:
        compiled[frozenset(of[row.lines[0]])].append(row)
    all_groups = [
        _group(tuple(sorted(lines)), members, eager)
        for lines, members in compiled.items()
        if not lines.isdisjoint(eager)
    ]
    return sorted(all_groups, key=lambda group: (-group.slower, group.lines))


def _group(lines: tuple[Origin, ...], rows: Sequence[Row], eager: Mapping[Origin, Sequence[float]]) -> Group:
    each_compiled = [sum(step) for step in zip(*(row.each_step for row in rows), strict=True)]
    each_eager = [sum(step) for step in zip(*(eager[line] for line in lines if line in eager), strict=True)]
    noise = SPREADS * math.hypot(_spread(each_compiled), _spread(each_eager))
    return Group(lines, sum(row.seconds for row in rows), median(each_eager), noise)


def _spread(each_step: Sequence[float]) -> float:
    return stdev(each_step) if len(each_step) > 1 else 0.0
