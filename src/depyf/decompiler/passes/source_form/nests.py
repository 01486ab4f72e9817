"""Tests of nested statements.

Before: if a and b: c      After:  if a:
                                       if b: c

The body is as many steps to the right of the first test as there are statements, and each test is on its own line.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.columns import Columns, leading_nots, start_of
from depyf.decompiler.passes.walk import compounds
from depyf.decompiler.steps import step

IF, ELIF = len("if "), len("elif ")
MOST_BRACKETS = 2


def restore_nests(body: list[ast.stmt], columns: Columns) -> None:
    """Split the tests of nested statements, in place."""
    for stmt in compounds(body):
        outer: ast.stmt | None = stmt
        while isinstance(outer, ast.If) and not outer.orelse:
            outer = _parted(outer, columns)


def _parted(stmt: ast.If, columns: Columns) -> ast.If | None:
    """Give a statement the first part of its test, and a nested one the rest."""
    test = stmt.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    head = columns.starts.get(stmt)
    if head is None:
        return None
    own = head[1] - IF - len("not ") * leading_nots(test.values[0])
    below = columns.of_block(stmt.body)
    for place in range(1, len(test.values)):
        start = start_of(test.values[place])
        if start is None or start[0] <= head[0]:
            continue
        begin = start[1] - IF - len("not ") * leading_nots(test.values[place])
        if not _is_nested(begin - own, None if below is None else below - own, columns.unit):
            continue
        step("line {}: split a test between two statements", stmt.lineno)
        parts = test.values[:place], test.values[place:]
        first, rest = (values[0] if len(values) == 1 else ast.BoolOp(ast.And(), values) for values in parts)
        inner = ast.If(test=rest, body=stmt.body, orelse=[], lineno=start[0])
        columns.starts[inner] = start
        stmt.test, stmt.body = first, [inner]
        return inner
    return None


def _is_nested(begin: int, below: int | None, unit: int) -> bool:
    """Return whether a head and a body this far right of the first head belong to nested statements.

    A parenthesis or `elif` moves the first head to the right, a parenthesis moves the second.
    """
    if below is None:
        return begin in (unit, unit + IF - ELIF)
    moved = -below % unit
    return below + moved >= 2 * unit and 0 <= begin - (unit - moved) <= MOST_BRACKETS
