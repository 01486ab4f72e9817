"""Convert live code objects of the running interpreter to `Code`."""

from __future__ import annotations

import types
from collections.abc import Mapping

from depyf.bytecode.code import Code
from depyf.bytecode.nesting import inner_prefix, nest
from depyf.bytecode.versions.running import RUNNING


def read(code: types.CodeType) -> Code:
    """Return the version-neutral view of a live code object, nested ones included.

    Raises `TypeError` for anything but a code object.
    """
    if not isinstance(code, types.CodeType):
        raise TypeError(f"a code object is needed, not {type(code).__name__}")
    return nest(code, code.co_name, children, view)


def children(code: types.CodeType, qualname: str) -> list[tuple[types.CodeType, str]]:
    """Return the nested code objects with their qualified names."""
    prefix = inner_prefix(qualname, code.co_name, code.co_flags)
    return [(inner, prefix + inner.co_name) for inner in code.co_consts if isinstance(inner, types.CodeType)]


def view(code: types.CodeType, qualname: str, done: Mapping[int, Code]) -> Code:
    """Return the view of one live code object.

    Args:
        code: the live code object.
        qualname: its qualified name, for versions in which code objects have none.
        done: the views of its code constants, by the identity of the live objects.
    """
    consts = tuple(done[id(const)] if isinstance(const, types.CodeType) else const for const in code.co_consts)
    lines = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    return Code(
        version=RUNNING,
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
