"""What the page of recompiles shows: for each function with several entries, who refused what, and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from depyf.report.catalogue import advice
from depyf.report.entry_table import EntryTable, entry_table
from depyf.report.html.function_data import entry_key
from depyf.report.html.owners import owner_of
from depyf.report.index_reader import Run
from depyf.report.model import Compile, Function, GuardSet, Recompile
from depyf.report.naming import title
from depyf.report.nearest import independent, nearest
from depyf.report.refused import Refused, refused


@dataclass(frozen=True, slots=True)
class Reason:
    """One respect in which an entry refused a call, and what can be done about it."""

    found: Refused
    advice: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the function: its page, and why those before it did not serve the call that it was made for."""

    compile: Compile
    address: str
    reasons: tuple[Reason, ...]
    is_untold: bool


@dataclass(frozen=True, slots=True)
class Recompiled:
    """A function that was compiled more than once."""

    function: Function
    address: str
    entries: tuple[Entry, ...]
    table: EntryTable
    owner: str = ""
    """The class of the module that the function is a method of."""

    @property
    def title(self) -> str:
        """Return what a reader calls the function."""
        return title(self.function)


def recompiled(run: Run, addresses: Mapping[str, str]) -> list[Recompiled]:
    """Return the functions of a run that were compiled more than once; `addresses` are those of the root functions."""
    found = []
    for function in run.session.functions.values():
        if not any(isinstance(each.trigger, Recompile) for each in function.compiles):
            continue
        address = addresses[function.root]
        guards = {str(each.id): each.guards.guards for each in function.compiles if isinstance(each.guards, GuardSet)}
        source = run.source_of(function)
        entries = tuple(_entry(function, each, address, source) for each in function.compiles)
        found.append(Recompiled(function, address, entries, entry_table(guards), owner_of(run, function)))
    return found


def _entry(function: Function, compiled: Compile, address: str, source: str) -> Entry:
    refusals = compiled.trigger.refusals if isinstance(compiled.trigger, Recompile) else ()
    told = nearest(compiled.trigger) if isinstance(compiled.trigger, Recompile) else None
    first = [each for each in refusals if told is not None and each.entry == told.entry]
    ordered = (*first, *(each for each in reversed(refusals) if each not in first))
    reasons = tuple(reason for refusal in ordered for reason in _reasons(function, refused(refusal), source))
    is_untold = isinstance(compiled.trigger, Recompile) and not reasons
    return Entry(compiled, f"{address}/{entry_key(compiled)}/guards", reasons, is_untold)


def _reasons(function: Function, found: list[Refused], source: str) -> list[Reason]:
    """Give each independent respect its advice; what follows from another one has none of its own."""
    own = tuple(independent(found))
    told = {each: advice(each, function.parameters, source) for each in own}
    ordered = sorted(found, key=lambda each: each not in own)
    return [Reason(each, told.get(each, "it follows from the others")) for each in ordered]
