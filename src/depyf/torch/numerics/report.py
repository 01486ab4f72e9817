"""The result of `trace_numerics`, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.model.counts import counted
from depyf.model.user_line import UserLine
from depyf.model.user_source import short_path
from depyf.torch.numerics.statistics import Statistics

_MOST_CHARACTERS = 200


def one_line(error: Exception) -> str:
    """Return an error as a short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:_MOST_CHARACTERS]


class Part(Enum):
    """A graph in a captured graph's family: the captured graph itself, or AOTAutograd's forward or backward graph."""

    CAPTURED = "captured graph"
    FORWARD = "forward graph"
    BACKWARD = "backward graph"


class Kind(Enum):
    """The kind of error in a node's result."""

    NAN = "nan"
    INFINITE = "inf"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Deviation:
    """The largest distance between a compiled result and the eager one.

    `count` elements exceed the tolerance; `at` is the index of the farthest element, with both values.
    """

    count: int
    at: tuple[int, ...]
    compiled: float
    eager: float

    def __str__(self) -> str:
        place = f" at {list(self.at)}" if self.at else ""
        values = f"compiled {self.compiled:.9g}, eager {self.eager:.9g}"
        return f"{self.count} elements beyond the tolerance; {values}{place}"


@dataclass(frozen=True, slots=True)
class KernelLine:
    """The line of a fused kernel in which a result goes wrong.

    line: the line in the text of the kernel, from 1.
    text: the text of that line.
    node: the node of the lowered graph whose result it produces or reads; empty if unknown.
    where: the user's line of that node.
    values: the values of the line.
    """

    kernel: str
    language: str
    part: Part
    line: int
    text: str
    node: str
    where: UserLine | None
    values: str

    def lines(self) -> Iterator[str]:
        """Yield the text of the line."""
        node = f" for {self.node}" if self.node else ""
        yield f"  in the kernel {self.kernel} ({self.part.value}), line {self.line}{node}: {self.text}"
        if self.where is not None:
            where = self.where
            yield f"    your line: {short_path(where.filename)}:{where.line} in {where.function}: {where.text}"
        yield f"    {self.values}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A node whose result is wrong although its inputs are right.

    graph: the graph, counted from 0 in the order of capture.
    call: the call of that graph, from 0.
    line: the line of `node` in the graph's text, from 1.
    text: the text of that line.
    where: the user's line.
    result, inputs: statistics of the node's result and inputs.
    deviation: for DIFFERENT only; then `result` describes the compiled result.
    gradient: the error is in the backward of this node.
    kernel: the line of Inductor's kernel where the error begins, if there is one.
    """

    kind: Kind
    part: Part
    graph: int
    call: int
    node: str
    line: int
    text: str
    where: UserLine | None
    result: Statistics | None
    inputs: tuple[tuple[str, Statistics], ...] = ()
    deviation: Deviation | None = None
    gradient: bool = False
    kernel: KernelLine | None = None

    def lines(self) -> Iterator[str]:
        """Yield the finding as text."""
        what = f"the gradient of {self.node}" if self.gradient else self.node
        if self.kind is Kind.DIFFERENT:
            yield f"{what} is the first whose compiled result is not the eager one ({self.place})"
        else:
            yield f"{what} is the first that is {self.kind.value} ({self.place})"
        yield f"  graph line {self.line}: {self.text}"
        if self.where is not None:
            where = self.where
            yield f"  your line: {short_path(where.filename)}:{where.line} in {where.function}: {where.text}"
        if self.deviation is not None:
            yield f"  {self.deviation}"
        if self.result is not None:
            yield f"  result: {self.result}"
        yield from (f"  from {name}: {numbers}" for name, numbers in self.inputs)
        if self.kernel is not None:
            yield from self.kernel.lines()

    @property
    def place(self) -> str:
        """The graph and the call, in words."""
        return f"{self.part.value} {self.graph}, call {self.call}"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A value of the compiled call that is not that of the plain function."""

    name: str
    compiled: str
    plain: str

    def __str__(self) -> str:
        return f"{self.name}: compiled {self.compiled}, plain Python {self.plain}"


@dataclass(slots=True)
class Comparison:
    """The comparison of a call: the names of the values, those that differ, and those left out, with reasons."""

    compared: list[str] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)
    where: UserLine | None = None
    """The first line of the user's at which the graphs are not what the function does, if they are not."""


@dataclass(slots=True)
class NumericsReport:
    """The result of running a compiled function's graphs node by node.

    findings: in the program's order: forward through the calls of graphs, then backward.
    graphs: the texts that `Finding.line` refers to, by part and number.
    nodes: the number of examined nodes.
    notes: the parts that could not be examined, with reasons.
    """

    function: str
    findings: list[Finding] = field(default_factory=list)
    graphs: dict[tuple[Part, int], str] = field(default_factory=dict)
    calls: int = 0
    nodes: int = 0
    watched: list[str] = field(default_factory=list)
    """The parts that ran node by node to the end, in words."""
    graphs_compared: int = 0
    whole: Comparison | None = None
    """The comparison of the whole call with the plain Python function, if it was made."""
    notes: list[str] = field(default_factory=list)

    @property
    def first(self) -> Finding | None:
        """The first finding in the program's order, or None."""
        return self.findings[0] if self.findings else None

    def __str__(self) -> str:
        captured = sum(part is Part.CAPTURED for part, _ in self.graphs)
        ran = [counted(captured, "graph"), counted(self.calls, "call"), f"{counted(self.nodes, 'node')} run"]
        lines = [f"{self.function}: {', '.join(ran)}"]
        lines += list(self._headlines())
        lines += [line for finding in self.findings for line in finding.lines()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _headlines(self) -> Iterator[str]:
        """Yield what was compared and how it came out, and what was not compared."""
        differing = sum(finding.kind is Kind.DIFFERENT for finding in self.findings)
        if self.nodes and len(self.findings) == differing:
            yield f"finite: every result of {counted(self.nodes, 'node')} that was looked at"
        if self.graphs_compared and not differing:
            graphs = counted(self.graphs_compared, "graph")
            yield f"equal: {graphs} compiled and eager, within the tolerance of each dtype"
        if self.whole is not None:
            yield from self._of_whole(self.whole)

    def _of_whole(self, whole: Comparison) -> Iterator[str]:
        if whole.mismatches:
            has_graph = any(finding.kind is Kind.DIFFERENT for finding in self.findings)
            why = "" if has_graph else ", although each graph that was compared is right"
            yield f"DIFFERENT: the compiled call is not what the plain Python function does{why}"
            if whole.where is not None:
                where = whole.where
                yield f"  first at your line: {short_path(where.filename)}:{where.line}: {where.text}"
            yield from (f"  {mismatch}" for mismatch in whole.mismatches)
        elif whole.compared:
            yield f"equal: the compiled call and the plain Python function, in {counted(len(whole.compared), 'value')}"
        yield from (f"not compared: {reason}" for reason in whole.omitted)

    __repr__ = __str__
