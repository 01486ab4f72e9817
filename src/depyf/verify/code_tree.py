"""Rewrite a live code object and its nested code."""

from __future__ import annotations

import types
from collections.abc import Callable

Rewrite = Callable[[types.CodeType], types.CodeType]


def rewrite_tree(code: types.CodeType, rewrite: Rewrite) -> types.CodeType:
    """Return the code with `rewrite` applied to it and to all nested code, innermost first."""
    done: dict[int, types.CodeType] = {}
    pending = [(code, False)]
    while pending:
        current, is_ready = pending.pop()
        inner = [const for const in current.co_consts if isinstance(const, types.CodeType)]
        if is_ready:
            if any(done[id(const)] is not const for const in inner):
                consts = tuple(done[id(c)] if isinstance(c, types.CodeType) else c for c in current.co_consts)
                done[id(current)] = rewrite(current.replace(co_consts=consts))
            else:
                done[id(current)] = rewrite(current)
        elif id(current) not in done:
            pending.append((current, True))
            pending.extend((const, False) for const in inner)
    return done[id(code)]
