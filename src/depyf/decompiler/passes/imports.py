"""Imports of one statement.

Before: import a        After:  import a, b.c as d
        import b.c as d

All instructions of a statement have its location; without locations, its line.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.extent import place_of
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import rewrite_sequences
from depyf.decompiler.steps import step


@registers(
    "imports",
    Stage.WHOLE,
    "join imports that come from one statement",
    takes=("body.stmts",),
    optional=True,
    after={"leftovers": "before, each import binds only one variable"},
)
def join_imports(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements, with imports from the same place joined."""
    return rewrite_sequences(body, _join)


def _join(stmts: list[ast.stmt]) -> list[ast.stmt]:
    joined: list[ast.stmt] = []
    for stmt in stmts:
        last = joined[-1] if joined else None
        if isinstance(stmt, ast.Import) and isinstance(last, ast.Import) and _are_one(last, stmt):
            step("line {}: join two imports", stmt.lineno)
            last.names += stmt.names
        else:
            joined.append(stmt)
    return joined


def _are_one(left: ast.Import, right: ast.Import) -> bool:
    if place_of(left) != place_of(right):
        return False
    return place_of(left) is not None or 0 < left.lineno == right.lineno
