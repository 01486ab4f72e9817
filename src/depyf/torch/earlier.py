"""Entries of torch's cache from before a context: it has no record of them, and its full code shows them still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from depyf.report.transformed_source import renamed
from depyf.torch import live
from depyf.torch.adapters.seams import CacheEntry
from depyf.torch.guards.full_code import CompiledEntry
from depyf.torch.recorder import Running
from depyf.torch.transform import names_in_dump


def from_before(compiles: Sequence[Running]) -> list[CompiledEntry]:
    """Return the entries of a function that none of its `compiles` in this context has made, oldest first."""
    known = [each.compile.id for each in compiles]
    refs = (each.live_code for each in compiles if each.live_code is not None)
    code = next((found for ref in refs if (found := ref()) is not None), None)
    if code is None:
        return []
    return [_in_dump(entry, live.compiled_entry(entry, code)) for entry in live.earlier_entries(code, known)]


def _in_dump(entry: CacheEntry, made: CompiledEntry) -> CompiledEntry:
    """Return an entry with the names that a dump has for globals: those without random parts."""
    names = names_in_dump(entry.code)
    return replace(made, source=renamed(made.source, names), names={stable: name for name, stable in names.items()})
