"""Ids of cache entries that do not carry their own (before torch 2.6), recorded when the code was made.

An entry without a record gets the next free number, oldest first, under a frame number that no compile has.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Sequence

from depyf.model.run import CompileId
from depyf.torch.capture.weak_codes import WeakCodes

UNHEARD = 9999
"""The frame number of entries without a record."""

_lock = threading.Lock()
_known: WeakCodes[CompileId] = WeakCodes()
_count = 0


def note(code: types.CodeType, compile_id: CompileId) -> None:
    """Record that a compile makes the code of an entry."""
    with _lock:
        _known[code] = compile_id


def number(codes: Sequence[types.CodeType]) -> None:
    """Assign a number to each code of an entry that has none yet."""
    global _count
    with _lock:
        for code in codes:
            if _known.get(code) is None:
                _known[code] = CompileId(UNHEARD, _count)
                _count += 1


def of_code(code: types.CodeType) -> CompileId:
    """Return the id of the entry with this code."""
    entry_id = _known.get(code)
    assert entry_id is not None, "entries get their numbers when they are read"
    return entry_id
