"""Tests with an empty arm.

Before: elif not a and b: c      After:  elif a: pass
                                         elif b: c

Before: if not a == b: c         After:  if a == b: pass
                                         else: c

Before: if not a:                After:  if a: pass
            if b: c                      elif b: c

There is no room for a `not` after the keyword.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.columns import Columns, leading_nots, start_of
from depyf.decompiler.passes.walk import compounds
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_fused, is_not, negated

IF, ELIF, NOT = len("if "), len("elif "), len("not ")


def restore_idle_arms(body: list[ast.stmt], columns: Columns) -> None:
    """Restore the empty arm of a test, in place."""
    arms: set[ast.stmt] = set()
    for outer in compounds(body):
        if not isinstance(outer, ast.If):
            continue
        arm = outer.orelse[0] if len(outer.orelse) == 1 else None
        own = columns.column(outer) if isinstance(arm, ast.If) else None
        if isinstance(arm, ast.If):
            arms.add(arm)
            if own is not None:
                _restore(arm, own, columns)
        if not outer.orelse and outer not in arms:
            _restore_first(outer, columns)


def _restore(arm: ast.If, own: int, columns: Columns) -> None:
    """Restore the empty arm of one test; `own` is the column of its `elif`."""
    while not arm.orelse:
        opposite = _opposite(_values(arm)[0])
        if opposite is None or _head(opposite) != own + ELIF:
            return
        if not _part(arm, opposite, own, columns) or not isinstance(arm.orelse[0], ast.If):
            return
        arm = arm.orelse[0]


def _restore_first(stmt: ast.If, columns: Columns) -> None:
    """Restore the empty arm of an `if`, and those of each `elif` after it."""
    opposite = _opposite(_values(stmt)[0])
    head = None if opposite is None else _head(opposite)
    if opposite is None or head is None or not _part(stmt, opposite, head - IF, columns):
        return
    if isinstance(stmt.orelse[0], ast.If):
        _restore(stmt.orelse[0], head - IF, columns)


def _part(arm: ast.If, opposite: ast.expr, own: int, columns: Columns) -> bool:
    """Turn the statements for a failed test into its `elif` or `else`, if columns show it; return whether they do."""
    test, *rest = _values(arm)
    takes_room = is_not(test)
    start = start_of(rest[0]) if rest else None
    if not rest and _is_elif(arm.body, own, columns):
        step("line {}: an arm does nothing, and its content becomes an `elif`", arm.lineno)
        arm.orelse = arm.body
    elif not rest and takes_room and columns.of_block(arm.body) == own + columns.unit:
        step("line {}: an arm does nothing, and has an `else`", arm.lineno)
        arm.orelse = arm.body
    elif start is not None and takes_room and _head(rest[0]) == own + ELIF:
        step("line {}: an arm does nothing, and has an `elif`", arm.lineno)
        inner = ast.If(test=_joined(rest), body=arm.body, orelse=[], lineno=start[0])
        columns.starts[inner] = start
        arm.orelse = [inner]
    else:
        return False
    arm.test, arm.body = opposite, [ast.Pass()]
    return True


def _is_elif(block: list[ast.stmt], own: int, columns: Columns) -> bool:
    """Return whether a block is a test after an `elif` in a column."""
    first = block[0]
    if len(block) > 1 or not isinstance(first, ast.If) or first not in columns.starts:
        return False
    return columns.starts[first][1] == own + ELIF + NOT * leading_nots(first.test)


def _opposite(test: ast.expr) -> ast.expr | None:
    """Return the opposite of a test if it needs no additional `not`."""
    if is_not(test):
        return test.operand
    return negated(test) if is_fused(test) else None


def _values(stmt: ast.If) -> list[ast.expr]:
    test = stmt.test
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _joined(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests)


def _head(test: ast.expr) -> int | None:
    """Return the column in which a test begins, including `not`."""
    start = start_of(test)
    return None if start is None else start[1] - NOT * leading_nots(test)
