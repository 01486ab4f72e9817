"""Docstrings of functions."""

from __future__ import annotations

from depyf.bytecode.code import CO_HAS_DOCSTRING, CO_OPTIMIZED, Code
from depyf.bytecode.versions.known import facts_of


def docstring(code: Code) -> str | None:
    """Return the docstring that a function's constants hold.

    Code whose name is in angle brackets (lambda, comprehension) has none, whatever its first constant is.
    """
    first = code.consts[0] if code.consts else None
    if not isinstance(first, str) or not code.flags & CO_OPTIMIZED or code.name.startswith("<"):
        return None
    if facts_of(code.version, str(code)).docstring_flag and not code.flags & CO_HAS_DOCSTRING:
        return None
    return first
