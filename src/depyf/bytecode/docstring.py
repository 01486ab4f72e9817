"""Docstrings: how a function stores one, and how the compiler changes one."""

from __future__ import annotations

from itertools import takewhile

from depyf.bytecode.code import CO_HAS_DOCSTRING, CO_OPTIMIZED, Code
from depyf.bytecode.versions.known import facts_of


def docstring(code: Code) -> str | None:
    """Return the docstring among a function's constants, or None.

    Code with a name in angle brackets (lambda, comprehension) has no docstring, whatever its first constant is.
    """
    first = code.consts[0] if code.consts else None
    if not isinstance(first, str) or not code.flags & CO_OPTIMIZED or code.name.startswith("<"):
        return None
    if facts_of(code.version, str(code)).docstring_flag and not code.flags & CO_HAS_DOCSTRING:
        return None
    return first


def is_kept(text: str, code: Code) -> bool:
    """Return whether the compiler keeps a text unchanged as the docstring of a class or module."""
    return not facts_of(code.version, str(code)).cleans_docstrings or clean(text) == text


def clean(text: str) -> str:
    """Return a docstring as the compiler stores it from 3.13 on (CPython's `_PyCompile_CleanDoc`)."""
    first, *others = text.expandtabs().split("\n")
    margin = min((_spaces(line) for line in others if line.strip(" ")), default=0)
    lines = [line[min(margin, _spaces(line)) :] for line in others]
    return "\n".join([first.lstrip(" "), *lines])


def _spaces(line: str) -> int:
    return sum(1 for _ in takewhile(" ".__eq__, line))
