"""The result of `first_difference`, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, field
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.counts import counted
from depyf.model.user_line import UserLine
from depyf.model.user_source import short_path
from depyf.torch.bits.gaps import Gap
from depyf.torch.bits.kernels import DIFFERENT, EQUAL, NOT_COMPARED, KernelResult
from depyf.views.bits_text import where_json

UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class First:
    """The first kernel whose bits differ.

    kernel: its name; "" if the results differ, but no kernel whose results were compared.
    graph, part: the graph, counted from 0, and "forward" or "backward".
    equal_before: the kernels before it with equal bits. not_compared_before: those that could not be compared.
    node: the node of the lowered graph with other bits. where: the user's line of this node.
    line, text: the line of the kernel at which the difference begins; 0 if it is not known.
    """

    kernel: str
    graph: int
    part: str
    equal_before: int
    not_compared_before: int
    node: str
    where: UserLine | None
    gap: Gap
    cause: str = UNKNOWN
    line: int = 0
    text: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the text of it."""
        equal = f"Equal through {counted(self.equal_before, 'kernel')}"
        if self.not_compared_before:
            equal += f" ({self.not_compared_before} more could not be compared)"
        what = f"`{self.kernel}`" if self.kernel else "a result of the graph, and no kernel that could be compared"
        place = ""
        if self.where is not None:
            place = f", {short_path(self.where.filename)}:{self.where.line} `{self.where.text}`"
        yield f"{equal}. First difference: {what}{place}: {self.gap}."
        if self.line:
            yield f"  kernel line {self.line}: {self.text}"
        yield f"  {self.part} of graph {self.graph}, node {self.node or 'not known'}"
        if self.cause == UNKNOWN and self.not_compared_before:
            yield "  Cause: not known; it may lie in an earlier kernel, which could not be compared"
        else:
            yield f"  Cause: {self.cause}" if self.cause != UNKNOWN else "  Cause: not known"


@dataclass(frozen=True, slots=True)
class Restored:
    """A setting that was tried: whether it gives equal bits, in two runs, and its cost.

    everywhere: all results of the graph are equal then, and not only those of the first kernel.
    cost: the time of a step with it, relative to a step without it; None if it was not measured.
    """

    setting: str
    confirmed: bool
    everywhere: bool
    cost: float | None = None
    failed: str = ""

    def __str__(self) -> str:
        cost = "" if self.cost is None else f"; a step takes {self.cost:.2f} times as long"
        scope = "every result is equal" if self.everywhere else "this line is equal, later ones are not"
        return f"{self.setting}: {scope}, confirmed by a second run{cost}"


@dataclass(slots=True)
class BitsReport:
    """The comparison bit by bit, and the first kernel that differs.

    sides: the two arrangements, in words. kernels: each launch, in the order of the run.
    results_compared, results_different: the names of results, changed inputs and gradients of the graphs.
    not_compared: the parts that could not be compared, with reasons.
    """

    function: str
    sides: tuple[str, str]
    kernels: list[KernelResult] = field(default_factory=list)
    results_compared: list[str] = field(default_factory=list)
    results_different: list[str] = field(default_factory=list)
    first: First | None = None
    tried: list[Restored] = field(default_factory=list)
    not_compared: list[str] = field(default_factory=list)
    graphs: int = 0

    @property
    def restored(self) -> list[Restored]:
        """Return the settings that give equal bits."""
        return [attempt for attempt in self.tried if attempt.confirmed]

    def count(self, status: str) -> int:
        """Return the number of launches with this status."""
        return sum(result.status == status for result in self.kernels)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.function}: {self.sides[0]} against {self.sides[1]}, bit by bit"
        launches = counted(len(self.kernels), "kernel launch", "kernel launches")
        results = counted(len(self.results_compared), "result")
        yield (
            f"compared: {counted(self.graphs, 'graph')}, {results}, {launches}: {self.count(EQUAL)} equal, "
            f"{self.count(DIFFERENT)} different, {self.count(NOT_COMPARED)} not compared"
        )
        if self.first is not None:
            yield from self.first.lines()
        elif self.results_different:
            yield f"DIFFERENT: {', '.join(self.results_different)}; no kernel was found"
        elif self.results_compared:
            yield f"No difference: {counted(len(self.results_compared), 'result')} with equal bits"
            if self.count(DIFFERENT):
                yield f"  {counted(self.count(DIFFERENT), 'kernel')} inside gave other bits, which reach no result"
        else:
            yield "Nothing was compared"
        yield from self._tried()
        yield from (f"not compared: {reason}" for reason in dict.fromkeys(self.not_compared))

    def _tried(self) -> Iterator[str]:
        yield from (f"  restored by {attempt}" for attempt in self.restored)
        others = [attempt.setting for attempt in self.tried if not attempt.confirmed]
        if others:
            yield f"  tried, and does not restore it: {', '.join(others)}"

    __repr__ = __str__

    def data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "schema": 1,
            "kind": "program",
            "function": self.function,
            "sides": list(self.sides),
            "graphs": self.graphs,
            "equal": not self.results_different and bool(self.results_compared),
            "results_compared": self.results_compared,
            "results_different": self.results_different,
            "kernels": [_with_where(result) | {"status": result.status} for result in self.kernels],
            "first": None if self.first is None else _with_where(self.first),
            "tried": [asdict(attempt) for attempt in self.tried],
            "not_compared": list(dict.fromkeys(self.not_compared)),
        }


def _with_where(value: First | KernelResult) -> dict[str, Any]:
    """Return a part of the report as plain data, with the user's line as the other commands write it."""
    return {**asdict(value), "where": where_json(value.where)}
