"""The decompiled body of one code object, passed from pass to pass."""

from __future__ import annotations

import ast
from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.records import dataclass
from depyf.decompiler.passes.unreached import ALL_REACHED, Unreached


@dataclass(slots=True)
class Body:
    """Statements of a code object.

    global_reads: names that it, or nested code, reads as globals without declaring them.
    unreached: the traces of removed code in an expression that no other part of it explains.
    type_params: the free variables that are type parameters, which `nonlocal` must not name.
    special: its nodes of `sought.SOUGHT` at the time of the declarations, without nested code.
    """

    code: Code
    stmts: list[ast.stmt]
    global_reads: set[str] = field(default_factory=set)
    unreached: Unreached = ALL_REACHED
    special: list[ast.AST] = field(default_factory=list)
    type_params: frozenset[str] = frozenset()


Bodies = dict[int, Body]
"""Bodies of nested code objects by `id` of the `Code`."""
