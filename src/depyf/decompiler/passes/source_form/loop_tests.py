"""Tests of loops that were statements in their bodies.

Before: while a and b:      After:  while a:
            c                           if not b: break
                                        c

A part of the test on a separate line, after an `if` in the column of the body, belongs to a statement.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.extent import place_of
from depyf.decompiler.passes.source_form.columns import Columns, leading_nots, start_of
from depyf.decompiler.passes.source_form.guards import joined, operands
from depyf.decompiler.passes.walk import nodes, statements
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import negated

IF, NOT, AND = len("if "), len("not "), len("and ")


def restore_loop_tests(body: list[ast.stmt], columns: Columns) -> None:
    """Split the tests of loops as their columns show, in place."""
    for stmt in statements(body):
        if isinstance(stmt, ast.While) and not isinstance(stmt.test, ast.Constant):
            _part(stmt, columns)


def _part(stmt: ast.While, columns: Columns) -> None:
    """Move the last tests of a loop into its body: they follow an `if` there, or the whole body is inside an `if`."""
    tests, column = operands(stmt.test, ast.And), columns.of_loop(stmt)
    if column is None:
        return
    heads = [start_of(test) for test in tests]
    for place in range(1, len(tests)):
        before, head, rest = heads[place - 1], heads[place], joined(tests[place:], ast.And())
        if before is None or head is None or head[0] <= before[0] or head[1] == before[1] + AND:
            continue
        own = head[1] - IF - column
        is_moved = columns.of_block(stmt.body) == column + columns.unit
        if is_moved and own == NOT * leading_nots(rest):
            stmt.body = [ast.If(test=rest, body=stmt.body, orelse=[ast.Break()], lineno=head[0])]
        elif not is_moved and own == NOT * leading_nots(negated(rest)) and _has_room(rest, stmt.body[0], columns):
            kept = [] if isinstance(stmt.body[0], ast.Pass) else stmt.body
            stmt.body = [ast.If(test=negated(rest), body=[ast.Break()], orelse=[], lineno=head[0]), *kept]
        else:
            continue
        step("line {}: a test of a loop belongs to a statement in it", head[0])
        columns.starts[stmt.body[0]] = head
        stmt.test = joined(tests[:place], ast.And())
        return


def _has_room(test: ast.expr, below: ast.stmt, columns: Columns) -> bool:
    """Return whether there is a line for `break` between a test and a statement; an empty statement shows no line."""
    ends = [place.end_line for node in nodes([test]) if (place := place_of(node)) is not None]
    return isinstance(below, ast.Pass) or any(line > max(ends, default=0) + 1 for line in columns.lines(below))
