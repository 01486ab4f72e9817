"""Texts of constants for messages."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.bytecode.ordered_text import ordered_text

PRINTED = (int, str, bytes, float, complex, bool, type(None), type(Ellipsis))
MANY_BITS = 10_000
"""A longer integer is not printed: Python limits the digits of decimal numbers, and nobody reads them."""


def shown(value: object, limit: int = 60) -> str:
    """Return a text of at most `limit` characters for a constant, without running the program's own code."""
    if isinstance(value, Code):
        return f"<code {value.name}>"
    text = ordered_text(value) if _is_printed(value) else f"<{type(value).__module__}.{type(value).__qualname__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _is_printed(value: object) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is int and isinstance(item, int):
            if item.bit_length() > MANY_BITS:
                return False
        elif kind in (tuple, frozenset) and isinstance(item, (tuple, frozenset)):
            pending.extend(item)
        elif kind not in PRINTED:
            return False
    return True
