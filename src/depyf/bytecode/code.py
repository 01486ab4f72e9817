"""A code object, independent of the interpreter that made it.

`Code` holds the contents of a `types.CodeType` of any CPython from 3.7 to 3.15, with one set of field names. A live
code object is read by `depyf.bytecode.reader`, a `.pyc` by `depyf.bytecode.pyc`; neither executes anything.
"""

from __future__ import annotations

import types
from dataclasses import field

from depyf.bytecode.records import dataclass

Version = tuple[int, int]
"""CPython feature version, e.g. `(3, 11)`."""

CO_OPTIMIZED = 0x0001
CO_NEWLOCALS = 0x0002
CO_VARARGS = 0x0004
CO_VARKEYWORDS = 0x0008
CO_NESTED = 0x0010
CO_GENERATOR = 0x0020
CO_COROUTINE = 0x0080
CO_ITERABLE_COROUTINE = 0x0100
CO_ASYNC_GENERATOR = 0x0200
GENERATORS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
CO_FUTURE_ANNOTATIONS = 0x1000000
CO_HAS_DOCSTRING = 0x4000000


@dataclass(slots=True, eq=False)
class Code:
    """Version-neutral view of a code object. Immutable by convention: an unfrozen class is ten times faster to make.

    `consts` holds nested code objects as `Code`; every other constant is the original object. `origin` is the live code
    object that was read. `optimised` is true if the code is known to be compiled with `-O` or `-OO`.
    """

    version: Version
    name: str
    qualname: str
    filename: str
    first_line: int
    argcount: int
    posonly_count: int
    kwonly_count: int
    flags: int
    varnames: tuple[str, ...]
    names: tuple[str, ...]
    cellvars: tuple[str, ...]
    freevars: tuple[str, ...]
    consts: tuple[object, ...] = field(repr=False)
    bytecode: bytes = field(repr=False)
    line_table: bytes = field(repr=False)
    exception_table: bytes = field(repr=False)
    stacksize: int = 0
    origin: types.CodeType | None = field(default=None, repr=False)
    optimised: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """All parameter names: positional, keyword-only, then `*args`, `**kwargs`."""
        count = self.argcount + self.kwonly_count
        count += bool(self.flags & CO_VARARGS) + bool(self.flags & CO_VARKEYWORDS)
        return self.varnames[:count]

    def __str__(self) -> str:
        return f"{self.qualname} ({self.filename}:{self.first_line})"
