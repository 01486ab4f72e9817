"""Tests of an `elif` whose arm does nothing.

Before: elif not a and b: c      After:  elif a: pass
                                         elif b: c

Before: elif not a == b: c       After:  elif a == b: pass
                                         else: c

There is no room for a `not` behind the `elif`.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.walk import statements
from depyf.decompiler.passes.written.columns import Columns, leading_nots, start_of
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_not, negated

ELIF, NOT = len("elif "), len("not ")


def restore_idle_arms(body: list[ast.stmt], columns: Columns) -> None:
    """Give a test whose arm does nothing that arm, in place."""
    for outer in statements(body):
        arm = outer.orelse[0] if isinstance(outer, ast.If) and len(outer.orelse) == 1 else None
        own = columns.column(outer) if isinstance(arm, ast.If) and not arm.orelse else None
        if isinstance(arm, ast.If) and own is not None:
            _restore(arm, own, columns)


def _restore(arm: ast.If, own: int, columns: Columns) -> None:
    """Give one test the arm that does nothing; `own` is the column of its `elif`."""
    joined = isinstance(arm.test, ast.BoolOp) and isinstance(arm.test.op, ast.And)
    values: list[ast.expr] = arm.test.values if joined else [arm.test]  # type: ignore[attr-defined]
    if not is_not(values[0]) or _head(negated(values[0])) != own + ELIF:
        return
    rest = values[1:]
    start = start_of(rest[0]) if rest else None
    if not rest and columns.of_block(arm.body) == own + columns.unit:
        step("line {}: an arm does nothing, and has an `else`", arm.lineno)
        arm.orelse = arm.body
    elif start is not None and _head(rest[0]) == own + ELIF:
        step("line {}: an arm does nothing, and has an `elif`", arm.lineno)
        test = rest[0] if len(rest) == 1 else ast.BoolOp(op=ast.And(), values=rest)
        inner = ast.If(test=test, body=arm.body, orelse=[], lineno=start[0])
        columns.starts[inner] = start
        arm.orelse = [inner]
    else:
        return
    arm.test, arm.body = negated(values[0]), [ast.Pass()]


def _head(test: ast.expr) -> int | None:
    """Return the column in which a test begins, `not` included."""
    start = start_of(test)
    return None if start is None else start[1] - NOT * leading_nots(test)
