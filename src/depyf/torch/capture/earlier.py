"""Entries of torch's cache from before a context. The context has no record of them, but the full code shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from depyf.model.artifacts.transformed_source import renamed
from depyf.torch.adapters.seams import CacheEntry
from depyf.torch.capture import live
from depyf.torch.capture.listing import names_in_dump
from depyf.torch.capture.recorder import Running
from depyf.torch.capture.weak_codes import WeakCodes
from depyf.torch.guards.full_code import CompiledEntry


class EarlierEntries:
    """The entries from before one context. Each is read once, because the full code may be written often."""

    def __init__(self) -> None:
        self._read: WeakCodes[CompiledEntry] = WeakCodes()

    def of(self, compiles: Sequence[Running]) -> list[CompiledEntry]:
        """Return the entries of a function that none of its `compiles` in this context made, oldest first."""
        known = [running.compile.id.of_torch for running in compiles]
        refs = (running.live_code for running in compiles if running.live_code is not None)
        code = next((alive for ref in refs if (alive := ref()) is not None), None)
        if code is None:
            return []
        earlier = []
        for entry in live.earlier_entries(code, known):
            compiled_entry = self._read.get(entry.code)
            if compiled_entry is None:
                compiled_entry = self._read[entry.code] = _in_dump(entry, live.compiled_entry(entry, code))
            earlier.append(compiled_entry)
        return earlier


def _in_dump(entry: CacheEntry, compiled_entry: CompiledEntry) -> CompiledEntry:
    """Return an entry with the dump's names of globals, which have no random parts."""
    names = names_in_dump(entry.code)
    return replace(
        compiled_entry,
        source=renamed(compiled_entry.source, names),
        names={stable: name for name, stable in names.items()},
    )
