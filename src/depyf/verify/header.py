"""Compare the headers of two code objects, before any instruction."""

from __future__ import annotations

from depyf.bytecode import code as flags
from depyf.bytecode.code import Code
from depyf.bytecode.docstring import docstring

COMPARED_FLAGS = (
    flags.CO_OPTIMIZED
    | flags.CO_NEWLOCALS
    | flags.CO_VARARGS
    | flags.CO_VARKEYWORDS
    | flags.CO_GENERATOR
    | flags.CO_COROUTINE
    | flags.CO_ITERABLE_COROUTINE
    | flags.CO_ASYNC_GENERATOR
)
INHERITED_FLAGS = 0x1FE0000
"""The flags of `from __future__` imports."""
COMPILERS = frozenset({"compile", "eval", "exec"})
"""Builtins that compile under the future imports of their caller's code."""


def signature(code: Code) -> tuple[int, int, int, tuple[str, ...]]:
    """Return the counts of the kinds of parameters, and their names."""
    return code.argcount, code.posonly_count, code.kwonly_count, code.parameters


def difference(original: Code, candidate: Code) -> str | None:
    """Return the difference between the headers, or None.

    The name is not compared, because the code was found by its name: see `nested_difference`.
    """
    if original.version != candidate.version:
        return f"the original is of Python {original.version}, the candidate of {candidate.version}"
    if signature(original) != signature(candidate):
        return f"signature {signature(original)} != {signature(candidate)}"
    if (original.flags ^ candidate.flags) & COMPARED_FLAGS:
        return f"flags {original.flags & COMPARED_FLAGS:#x} != {candidate.flags & COMPARED_FLAGS:#x}"
    if (original.flags ^ candidate.flags) & INHERITED_FLAGS and not COMPILERS.isdisjoint(original.names):
        return f"future imports {original.flags & INHERITED_FLAGS:#x} != {candidate.flags & INHERITED_FLAGS:#x}"
    if sorted(original.freevars) != sorted(candidate.freevars):
        return f"free variables {original.freevars} != {candidate.freevars}"
    if sorted(original.cellvars) != sorted(candidate.cellvars):
        return f"cell variables {original.cellvars} != {candidate.cellvars}"
    return None


def nested_difference(original: Code, candidate: Code) -> str | None:
    """Return the difference between the headers of nested code. A running program can see its names and docstring."""
    if original.name != candidate.name:
        return f"name {original.name} != {candidate.name}"
    if original.qualname != candidate.qualname:
        return f"qualified name {original.qualname} != {candidate.qualname}"
    if original.freevars != candidate.freevars:
        # A closure has its cells in this order.
        return f"free variables {original.freevars} != {candidate.freevars}"
    if docstring(original) != docstring(candidate):
        return f"docstring {docstring(original)!r} != {docstring(candidate)!r}"
    return difference(original, candidate)
