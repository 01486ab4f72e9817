"""The data of the first page for one process: the functions in the call tree, with their times on one axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.findings.reasons import reason_words
from depyf.model.calls import call_tree
from depyf.model.counts import guard_count
from depyf.model.index_reader import Family, Run
from depyf.model.naming import title
from depyf.model.phases import PHASES, duration, phases
from depyf.model.run import Compile, Function, NoCall, Recompile, Resume
from depyf.model.status import SIGNS, Status, status_of, worst
from depyf.model.user_line import UserLine
from depyf.views.html.function_data import entry_key
from depyf.views.html.owners import owner_of
from depyf.views.words import where_words

LEAST_GAP = 0.01
"""The smallest gap without compiles that is cut out of the axis, as a fraction of the whole."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a row's time: its start and its length, both in percent of the axis."""

    left: float
    width: float
    phase: str
    number: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the tree: a call, a function, or a compile of the function above."""

    kind: str
    depth: int
    label: str
    place: str
    address: str = ""
    status: Status | None = None
    detail: str = ""
    numbers: Mapping[str, object] = field(default_factory=dict)
    bars: tuple[Bar, ...] = ()
    owner: str = ""
    """The class of the module whose method the function is."""

    @property
    def sign(self) -> str:
        """Return the symbol of the row's status, or "" for a call."""
        return SIGNS[self.status] if self.status is not None else ""


class Axis:
    """Maps seconds of the run to percent of the page, without the times in which nothing was compiled."""

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        ordered = sorted(spans)
        least = LEAST_GAP * sum(end - begin for begin, end in ordered)
        self._islands: list[tuple[float, float]] = []
        for begin, end in ordered:
            if self._islands and begin <= self._islands[-1][1] + least:
                self._islands[-1] = (self._islands[-1][0], max(end, self._islands[-1][1]))
            else:
                self._islands.append((begin, end))
        self.length = sum(end - begin for begin, end in self._islands)

    def percent(self, seconds: float) -> float:
        """Return the position of a time on the axis."""
        before = sum(max(0.0, min(seconds, end) - begin) for begin, end in self._islands)
        return 100 * before / self.length if self.length else 0.0


def rows(run: Run, addresses: Mapping[str, str]) -> list[Row]:
    """Return the tree of a run; `addresses` are those of the functions' pages by key."""
    session = run.session
    axis = Axis(_spans(compiled) for _, compiled in session.compiles() if compiled.began is not None)
    tree_rows: list[Row] = []
    families = run.families()
    for placed in call_tree(session.roots()):
        if isinstance(placed.item, UserLine):
            line = placed.item
            tree_rows.append(Row("call", placed.depth, line.text or line.function, f"{line.filename}:{line.line}"))
        else:
            tree_rows += _function_rows(
                run, families[placed.item.key], placed.item, placed.depth, addresses[placed.item.key], axis
            )
    return tree_rows


def _spans(compiled: Compile) -> tuple[float, float]:
    began = compiled.began or 0.0
    return began, began + duration(compiled.seconds)


def _function_rows(run: Run, pairs: Family, root: Function, depth: int, address: str, axis: Axis) -> list[Row]:
    compiles = [compiled for _, compiled in pairs]
    head = Row(
        "function",
        depth,
        title(root),
        where_words(root),
        address,
        worst(map(status_of, compiles)),
        numbers=_sums(compiles),
        bars=() if len(compiles) > 1 else _bars(compiles, axis),
        owner=owner_of(run, root),
    )
    if len(pairs) == 1:
        return [head]
    return [head, *(_compile_row(root, function, compiled, depth + 1, address, axis) for function, compiled in pairs)]


def _compile_row(root: Function, function: Function, compiled: Compile, depth: int, address: str, axis: Axis) -> Row:
    return Row(
        "compile",
        depth,
        str(compiled.id),
        "",
        f"{address}/{entry_key(compiled)}",
        status_of(compiled),
        _detail(root, function, compiled),
        _sums([compiled]),
        _bars([compiled], axis),
    )


def _detail(root: Function, function: Function, compiled: Compile) -> str:
    match compiled.trigger:
        case Resume(caller):
            return f"continues from line {function.resumes_at} after {caller}"
        case Recompile():
            return reason_words(root, function, compiled)
        case NoCall(how):
            return how
        case _:
            return "first call"


def _sums(compiles: list[Compile]) -> dict[str, object]:
    return {
        "entries": len(compiles),
        "ops": sum(compiled.op_count or 0 for compiled in compiles),
        "guards": sum(guard_count(compiled) or 0 for compiled in compiles),
        "hits": sum(compiled.hits or 0 for compiled in compiles),
        "seconds": sum(duration(compiled.seconds) for compiled in compiles),
    }


def _bars(compiles: list[Compile], axis: Axis) -> tuple[Bar, ...]:
    bars = []
    for compiled in compiles:
        if compiled.began is None:
            continue
        at = compiled.began
        for name, seconds in phases(compiled.seconds).items():
            left, right = axis.percent(at), axis.percent(at + seconds)
            bars.append(Bar(round(left, 3), round(right - left, 3), name, PHASES.index(name), seconds))
            at += seconds
    return tuple(bars)
