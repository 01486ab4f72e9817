"""The state of each user line: it runs in a graph, in Dynamo's code around the graphs, or in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import Enum
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.lines_read import LinesRead
from depyf.model.names import resumed_function
from depyf.model.naming import plain_name
from depyf.model.run import Compile, Function, Session, Unavailable


class LineState(Enum):
    """The code that runs a line. If compiles differ, the first member that holds for one of them counts."""

    GRAPH = "graph"
    BETWEEN = "between"
    EAGER = "eager"
    NEVER = "never"

    @property
    def words(self) -> str:
        """Return a description of a line in this state."""
        return _WORDS[self]


_WORDS = {
    LineState.GRAPH: "runs in a graph, or was evaluated when one was made",
    LineState.BETWEEN: "runs in Dynamo's code between graphs",
    LineState.EAGER: "runs eagerly: the code after a graph break or a failed compile was not compiled",
    LineState.NEVER: "never compiled: no compile reached it, or its compile failed and the call raised the error",
}


Place: TypeAlias = tuple[str, str, int]
"""A function: its file, its name and its first line."""


@dataclass(slots=True)
class FunctionLines:
    """The lines of a function with effect, and their states."""

    name: str
    filename: str
    first_line: int
    states: dict[int, LineState] = field(default_factory=dict)

    @property
    def plain_name(self) -> str:
        """Return the name in the function's `def`."""
        return self.name.rpartition(".")[2]

    def is_of(self, function: Function) -> bool:
        """Return whether the lines belong to this compiled function."""
        place = (self.filename, self.plain_name, self.first_line)
        return place == (function.filename, plain_name(function), function.first_line)

    def count(self, state: LineState) -> int:
        """Return how many lines are in a state."""
        return sum(line_state is state for line_state in self.states.values())

    @property
    def share(self) -> int:
        """Return the percentage of the lines that run in graphs."""
        return round(100 * self.count(LineState.GRAPH) / len(self.states)) if self.states else 0

    @property
    def words(self) -> str:
        """Return the percentage of the lines that run in graphs, as a sentence."""
        rest = [
            words if len(self.states) == 1 else f"{self.count(state)} {words}"
            for state, words in (
                (LineState.BETWEEN, "between graphs"),
                (LineState.EAGER, "eager"),
                (LineState.NEVER, "never compiled"),
            )
            if self.count(state)
        ]
        if len(self.states) == 1:
            return f"the one line of `{self.name}` {'runs in a graph' if not rest else f'runs in no graph ({rest[0]})'}"
        of = f"{self.share} % of the {len(self.states)} lines of `{self.name}` run in graphs"
        return f"{of} ({', '.join(rest)})" if rest else of


def line_states(session: Session) -> list[FunctionLines]:
    """Return the functions that Dynamo read in a run, in reading order, or [] if unknown."""
    functions: dict[Place, FunctionLines] = {}
    for _, compiled in session.compiles():
        given_up = _is_given_up(session, compiled)
        for read in compiled.lines:
            of = _lines_of(functions, read)
            for line in read.lines:
                state = LineState.NEVER if given_up else _state(compiled, read, line)
                of.states[line] = min(of.states.get(line, state), state, key=_ORDER.index)
    between = set(_lines_between(session))
    for function in functions.values():
        for line, state in function.states.items():
            if state is LineState.GRAPH and (function.filename, line) in between:
                function.states[line] = LineState.BETWEEN
    for filename, name, first in _left_eager(session):
        for function in functions.values():
            if (function.filename, function.plain_name) == (filename, name):
                _run_eager(function, first)
    return list(functions.values())


_ORDER = list(LineState)


def _state(compiled: Compile, read: LinesRead, line: int) -> LineState:
    """Return the state of a line after one compile. Dropping a graph without operations drops its values, too."""
    if line not in read.read:
        return LineState.NEVER
    return LineState.GRAPH if line in read.in_graphs or compiled.op_count else LineState.BETWEEN


def _is_given_up(session: Session, compiled: Compile) -> bool:
    """Return whether a compile made no code: it failed, or Dynamo skipped the frame."""
    if compiled.failure is not None:
        return True
    code = compiled.transformed
    return isinstance(code, Unavailable) and any(reason == code.reason for _, _, reason in session.skipped)


def _lines_between(session: Session) -> Iterator[tuple[str, int]]:
    """Yield the lines at which graphs end, and those whose effects Dynamo's code repeats after a graph."""
    for _, compiled in session.compiles():
        in_graphs = {(read.filename, line) for read in compiled.lines for line in read.in_graphs}
        for graph_break in compiled.breaks:
            yield from ((line.filename, line.line) for line in graph_break.stack)
            if graph_break.where is not None:
                yield graph_break.where.filename, graph_break.where.line
        for effect in compiled.effects:
            yield from {(line.filename, line.line) for line in effect.lines} - in_graphs


def _lines_of(functions: dict[Place, FunctionLines], read: LinesRead) -> FunctionLines:
    """Return the entry of a function. A resume function belongs to the entry of its function."""
    for known in functions.values():
        within = known.states and min(known.states) <= read.first_line <= max(known.states)
        starts = known.first_line == read.first_line
        if (known.filename, known.name) == (read.filename, read.name) and (starts or within):
            return known
    place = read.filename, read.name, read.first_line
    return functions.setdefault(place, FunctionLines(read.name, read.filename, read.first_line))


def _left_eager(session: Session) -> Iterator[tuple[str, str, int]]:
    """Yield the file, the name and a line of each function for which no compile was made from that line on."""
    for name, filename, _ in session.skipped:
        rest = resumed_function(name)
        if rest is not None:
            yield filename, rest[0], rest[1]
    for function in session.functions.values():
        ran = any(compiled.failure is None or not compiled.failure.raised for compiled in function.compiles)
        if ran and all(_is_given_up(session, compiled) for compiled in function.compiles):
            yield function.filename, plain_name(function), function.resumes_at or function.first_line
        yield from _after_last_breaks(function)


def _after_last_breaks(function: Function) -> Iterator[tuple[str, str, int]]:
    """Yield the lines after graph breaks without a resume function: the transformed code itself runs the rest.

    before: torch 2.13 breaks at a call of an LSTM, and the code of the compile ends with the user's next lines
    """
    for compiled in function.compiles:
        for graph_break in compiled.breaks if not compiled.resumes else ():
            for line in (graph_break.where, *graph_break.stack):
                if line is not None and (line.filename, line.function) == (function.filename, plain_name(function)):
                    yield line.filename, line.function, line.line + 1


def _run_eager(function: FunctionLines, first: int) -> None:
    for line, state in function.states.items():
        if line >= first and state is LineState.NEVER:
            function.states[line] = LineState.EAGER
