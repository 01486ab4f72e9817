"""The data of the page of recompiles: for each function with several entries, their refusals and differences."""

from __future__ import annotations

from collections.abc import Mapping

from depyf.bytecode.records import dataclass
from depyf.findings import Finding
from depyf.findings.catalogue import Kind
from depyf.findings.causes import kinds
from depyf.findings.reasons import Reason, entry_reasons
from depyf.model.counts import counted
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.model.run import Compile, Function, GuardSet, Recompile
from depyf.views.entry_table import EntryTable, entry_table
from depyf.views.html.function_data import entry_key
from depyf.views.html.owners import owner_of
from depyf.views.recompile_findings import recompile_findings


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the function: its page, and why the earlier entries refused the call for which it was made.

    nearest: the nearest entry, with its reasons.
    others: the consequences of these reasons, and the refusals of other entries.
    finding: the finding about the compile.
    """

    compile: Compile
    address: str
    nearest: str
    reasons: tuple[Reason, ...]
    others: tuple[tuple[str, Reason, bool], ...]
    is_untold: bool
    finding: Finding | None = None

    def fix(self, number: int) -> str:
        """Return the fix beside a reason, by its number: that of the finding, once, beside the first one."""
        if self.finding is None:
            return self.reasons[number].fix
        return "" if number else self.finding.fix or "no change is needed"

    @property
    def rows(self) -> int:
        """Return the number of its rows in the table."""
        return len(self.reasons) + bool(self.others)

    @property
    def others_words(self) -> str:
        """Return how many refusals are folded, and of how many entries."""
        older = len({entry for entry, *_ in self.others} - {self.nearest})
        what = f"{counted(len(self.others), 'refusal')} more"
        return f"{what}, of {counted(older, 'other entry', 'other entries')}" if older else f"{what} that follow"


@dataclass(frozen=True, slots=True)
class Recompiled:
    """A function that was compiled more than once."""

    function: Function
    address: str
    entries: tuple[Entry, ...]
    table: EntryTable
    owner: str = ""
    """The class of the module whose method the function is."""

    @property
    def title(self) -> str:
        """Return the name of the function for readers."""
        return title(self.function)

    @property
    def made(self) -> list[Entry]:
        """Return the entries that Dynamo made, without the compiles that it gave up."""
        return [entry for entry in self.entries if entry.compile.failure is None]

    @property
    def count(self) -> str:
        """Return how many entries there are."""
        return counted(len(self.made), "entry", "entries")


def recompiled(run: Run, addresses: Mapping[str, str]) -> list[Recompiled]:
    """Return the functions of a run that were compiled more than once; `addresses` are those of the root functions."""
    functions, known, events = [], kinds(run.session), recompile_findings(run.session)
    for function in run.session.functions.values():
        if not any(isinstance(compiled.trigger, Recompile) for compiled in function.compiles):
            continue
        address = addresses[function.root]
        guards = {
            str(compiled.id): compiled.guards.guards
            for compiled in function.compiles
            if isinstance(compiled.guards, GuardSet)
        }
        root = run.session.functions[function.root]
        entries = tuple(
            _entry(root, function, compiled, address, known, events.get(str(compiled.id)))
            for compiled in function.compiles
        )
        functions.append(Recompiled(function, address, entries, entry_table(guards), owner_of(run, function)))
    return functions


def _entry(
    root: Function,
    function: Function,
    compiled: Compile,
    address: str,
    known: Mapping[tuple[int, str], Kind],
    finding: Finding | None,
) -> Entry:
    """Return an entry for the page.

    Args:
        root: the function, or the one that it resumes.
        function: the compiled function.
        compiled: the compile that made the entry.
        address: the page of the root function.
        known: the facts about each cause from all recompiles.
        finding: the finding about the compile.
    """
    by_entry = list(entry_reasons(root, function, compiled, known))
    near = next((entry for entry in by_entry if entry.is_nearest), None)
    others = tuple(
        (entry.entry, reason, follows)
        for entry in by_entry
        for follows, reasons in ((False, () if entry is near else entry.reasons), (True, entry.folded))
        for reason in reasons
    )
    return Entry(
        compiled,
        f"{address}/{entry_key(compiled)}/guards",
        near.entry if near is not None else "",
        near.reasons if near is not None else (),
        others,
        isinstance(compiled.trigger, Recompile) and near is None,
        finding,
    )
