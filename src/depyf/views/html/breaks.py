"""The data of the page of graph breaks and skipped frames: each reason once, with its places and its number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.findings import Finding
from depyf.findings.failures import place as where_is
from depyf.model.failure import Failure
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.model.run import GraphBreak
from depyf.model.skips import Whose, skips
from depyf.model.user_line import UserLine
from depyf.views.html.function_data import entry_key

OF_TORCH = "torch/"


@dataclass(slots=True)
class Broken:
    """A place where graphs end for one reason: the compiles that broke there, and the calls that they served.

    finding: the finding about it, with its advice.
    entries: ids, addresses and names of the compiles.
    """

    graph_break: GraphBreak
    finding: Finding | None
    entries: list[tuple[str, str, str]] = field(default_factory=list)
    calls: int = 0
    is_counted: bool = True

    @property
    def callers(self) -> list[UserLine]:
        """Return the user's calls that lead to the place, outermost first."""
        return [line for line in self.graph_break.stack[:-1] if not line.filename.startswith(OF_TORCH)]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skipped frame; `is_own` unless it belongs to a package or is generated code without a file."""

    name: str
    file: str
    reason: str
    times: int
    is_own: bool


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A compile that Dynamo gave up: its page, and the reason."""

    id: str
    address: str
    name: str
    failure: Failure


def broken(run: Run, addresses: Mapping[str, str], findings: Sequence[Finding]) -> list[Broken]:
    """Return the places where graphs end, in the order in which they occurred.

    Args:
        run: the run.
        addresses: the addresses of the functions' pages, by key.
        findings: the findings of the run.
    """
    by_compile = {(compiled, str(finding.where)): finding for finding in findings for compiled in finding.compiles}
    places: dict[tuple[UserLine | None, str], Broken] = {}
    for function, compiled in run.session.compiles():
        for graph_break in compiled.breaks:
            at = str(where_is(graph_break.where)) if graph_break.where is not None else ""
            finding = by_compile.get((str(compiled.id), at))
            place = places.setdefault((graph_break.where, graph_break.reason), Broken(graph_break, finding))
            address = f"{addresses[function.root]}/{entry_key(compiled)}"
            place.entries.append((str(compiled.id), address, title(function)))
            place.calls += compiled.hits or 0
            place.is_counted = place.is_counted and compiled.hits is not None
    return list(places.values())


def failed(run: Run, addresses: Mapping[str, str]) -> list[GivenUp]:
    """Return the compiles that Dynamo gave up."""
    return [
        GivenUp(
            str(compiled.id), f"{addresses[function.root]}/{entry_key(compiled)}", title(function), compiled.failure
        )
        for function, compiled in run.session.compiles()
        if compiled.failure is not None
    ]


def skipped(run: Run) -> list[Skipped]:
    """Return the frames that Dynamo skipped: the user's own first, then by frequency."""
    frames = [
        Skipped(skip.what, skip.filename, skip.reason, skip.times, skip.whose is Whose.OWN)
        for skip in skips(run.session)
    ]
    return sorted(frames, key=lambda frame: (not frame.is_own, -frame.times))
