"""The tables of a profile: the costs of lines, kernels, functions, and graph breaks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.links.origins import Origin, Origins
from depyf.links.profile.charges import BREAK, DYNAMO, GUARDS, WRAPPER
from depyf.links.profile.model import Cost, Profile


@dataclass(slots=True)
class Row:
    """A line of the user's, or a set of lines that are computed together, and what is charged to exactly these.

    kinds: the seconds of a step by the kind of the charge.
    shared: for a line, the seconds of all sets that contain it.
    """

    lines: tuple[Origin, ...]
    kinds: dict[str, float] = field(default_factory=dict)
    each_step: list[float] = field(default_factory=list)
    kernels: dict[str, float] = field(default_factory=dict)
    shared: float = 0.0

    @property
    def seconds(self) -> float:
        """Return the seconds of a step."""
        return sum(self.kinds.values())

    @property
    def kind(self) -> str:
        """Return the kind with the largest part."""
        return max(self.kinds, key=lambda kind: self.kinds[kind], default="")


def line_rows(profile: Profile) -> list[Row]:
    """Return each line and each set of lines with a charge, most expensive first."""
    rows: dict[Origins, Row] = {}
    for cost in profile.costs:
        if cost.charge.lines:
            row = rows.setdefault(cost.charge.lines, Row(tuple(sorted(cost.charge.lines))))
            _add(row, cost)
    shared: dict[Origin, float] = defaultdict(float)
    for row in rows.values():
        for line in row.lines if len(row.lines) > 1 else ():
            shared[line] += row.seconds
    for row in rows.values():
        row.shared = shared[row.lines[0]] if len(row.lines) == 1 else 0.0
    return sorted(rows.values(), key=lambda row: (-row.seconds, row.lines))


def _add(row: Row, cost: Cost) -> None:
    charge = cost.charge
    row.kinds[charge.kind] = row.kinds.get(charge.kind, 0.0) + cost.seconds
    row.each_step = [a + b for a, b in zip(row.each_step or [0.0] * len(cost.each_step), cost.each_step, strict=True)]
    if charge.file:
        row.kernels[charge.name] = row.kernels.get(charge.name, 0.0) + cost.seconds


@dataclass(slots=True)
class Kernel:
    """A kernel by its name, with every call of it in the dump."""

    name: str
    kind: str
    seconds: float = 0.0
    times: float = 0.0
    calls: list[tuple[str, int]] = field(default_factory=list)
    compiles: set[str] = field(default_factory=set)
    lines: set[Origin] = field(default_factory=set)


def kernel_rows(profile: Profile) -> list[Kernel]:
    """Return the kernels and operations that a dump's texts call, most expensive first."""
    rows: dict[tuple[str, str], Kernel] = {}
    for cost in profile.costs:
        charge = cost.charge
        if not charge.file:
            continue
        row = rows.setdefault((charge.name, charge.kind), Kernel(charge.name, charge.kind))
        row.seconds += cost.seconds
        row.times += cost.times
        row.calls.append((charge.file, charge.row))
        row.compiles.add(charge.compile)
        row.lines |= charge.lines
    return sorted(rows.values(), key=lambda row: -row.seconds)


@dataclass(slots=True)
class Overhead:
    """The costs of a compiled function besides its kernels, in seconds of a step by kind."""

    name: str
    compiles: set[str] = field(default_factory=set)
    kinds: dict[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Return the seconds of a step."""
        return sum(self.kinds.values())


def function_rows(profile: Profile) -> list[Overhead]:
    """Return the costs of each compiled function by kind: its kernels, guards, wrappers, Dynamo's code."""
    rows: dict[str, Overhead] = {}
    for cost in profile.costs:
        charge = cost.charge
        if charge.function or charge.kind in (GUARDS, DYNAMO, WRAPPER):
            row = rows.setdefault(charge.function, Overhead(charge.function))
            row.kinds[charge.kind] = row.kinds.get(charge.kind, 0.0) + cost.seconds
            if charge.compile:
                row.compiles.add(charge.compile)
    return sorted(rows.values(), key=lambda row: -row.seconds)


def kinds(profile: Profile) -> dict[str, float]:
    """Return the seconds of a step by kind, most expensive first."""
    seconds: dict[str, float] = defaultdict(float)
    for cost in profile.costs:
        seconds[cost.charge.kind] += cost.seconds
    return dict(sorted(seconds.items(), key=lambda pair: -pair[1]))


def breaks(profile: Profile) -> dict[Origin, float]:
    """Return the seconds of a step that each graph break's gap costs, by its line."""
    seconds: dict[Origin, float] = defaultdict(float)
    for cost in profile.costs:
        if cost.charge.kind == BREAK:
            for line in cost.charge.lines:
                seconds[line] += cost.seconds
    return dict(sorted(seconds.items(), key=lambda pair: -pair[1]))
