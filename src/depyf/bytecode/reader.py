"""Live code objects of the running interpreter to `Code`."""

from __future__ import annotations

import sys
import types
from typing import TypeGuard

from depyf.bytecode.code import CO_NEWLOCALS, CO_OPTIMIZED, Code


def read(code: types.CodeType) -> Code:
    """Return the version-neutral view of a live code object, nested ones included.

    Raises `TypeError` for anything but a code object.
    """
    if not isinstance(code, types.CodeType):
        raise TypeError(f"a code object is needed, not {type(code).__name__}")
    done: dict[int, Code] = {}
    stack = [(code, code.co_name, False)]
    while stack:
        live, qualname, is_ready = stack.pop()
        if id(live) in done:
            continue
        if is_ready:
            consts = tuple(done[id(const)] if is_code(const) else const for const in live.co_consts)
            done[id(live)] = view(live, qualname, consts)
            continue
        prefix = inner_prefix(qualname, live.co_name, live.co_flags)
        stack.append((live, qualname, True))
        stack.extend((inner, prefix + inner.co_name, False) for inner in live.co_consts if is_code(inner))
    return done[id(code)]


def is_code(value: object) -> TypeGuard[types.CodeType]:
    """Tell whether a constant is a nested code object."""
    return isinstance(value, types.CodeType)


def inner_prefix(qualname: str, name: str, flags: int) -> str:
    """Return what a nested definition's qualified name begins with.

    For interpreters whose code objects do not carry their qualified name.
    """
    if name == "<module>":
        return ""
    is_function = flags & CO_OPTIMIZED and flags & CO_NEWLOCALS
    return f"{qualname}.<locals>." if is_function else f"{qualname}."


def view(code: types.CodeType, qualname: str, consts: tuple[object, ...]) -> Code:
    """Return the view of one code object whose constants are converted."""
    lines = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    return Code(
        version=sys.version_info[:2],
        name=code.co_name,
        qualname=getattr(code, "co_qualname", qualname),
        filename=code.co_filename,
        first_line=code.co_firstlineno,
        argcount=code.co_argcount,
        posonly_count=code.co_posonlyargcount,
        kwonly_count=code.co_kwonlyargcount,
        flags=code.co_flags,
        varnames=code.co_varnames,
        names=code.co_names,
        cellvars=code.co_cellvars,
        freevars=code.co_freevars,
        consts=consts,
        bytecode=code.co_code,
        line_table=lines,
        exception_table=getattr(code, "co_exceptiontable", b""),
        stacksize=code.co_stacksize,
        origin=code,
    )
