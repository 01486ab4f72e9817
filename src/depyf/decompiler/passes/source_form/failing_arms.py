"""`else: assert False`, which arrives as an `assert` of the previous test.

Before: else:                    After:  elif b:
            assert b, c                      d
            d                            else:
                                             assert False, c

A test that begins five columns to the right of its statement follows `elif`, not `assert`. So does a test whose message
is below the next statement.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.extent import row_of
from depyf.decompiler.passes.source_form.columns import Columns, leading_nots, start_of
from depyf.decompiler.passes.source_form.line_evidence import Lines
from depyf.decompiler.passes.walk import compounds, inner, nodes
from depyf.decompiler.steps import step

ELIF, NOT = len("elif "), len("not ")


def restore_failing_arms(body: list[ast.stmt], columns: Columns) -> None:
    """Restore the `elif` whose test arrives as an `assert`, in place."""
    for outer in compounds(body):
        if not isinstance(outer, ast.If) or len(outer.orelse) < 2 or not isinstance(outer.orelse[0], ast.Assert):
            continue
        asserted, rest = outer.orelse[0], outer.orelse[1:]
        start, below = start_of(asserted.test), columns.column(rest[0])
        if start is None or below is None:
            continue
        if start[1] != below - columns.unit + ELIF + NOT * leading_nots(asserted.test):
            continue
        step("line {}: a test belongs to an `elif`, and the `else` fails", start[0])
        failing = ast.Assert(test=ast.Constant(value=False), msg=asserted.msg, lineno=0)
        inner = ast.If(test=asserted.test, body=rest, orelse=[failing], lineno=start[0])
        columns.starts[inner] = start
        columns.starts.pop(asserted, None)
        outer.orelse = [inner]


def restore_failing_arms_by_lines(body: list[ast.stmt], lines: Lines) -> None:
    """Restore each test that arrives as an `assert` with a message below the statements after it, in place."""
    work = [body]
    for block in work:  # The list grows during the iteration.
        for place in range(len(block) - 2, -1, -1):
            asserted = block[place]
            if isinstance(asserted, ast.Assert) and asserted.msg is not None:
                _part(block, place, asserted, lines)
        work += [below for stmt in block for below, _, _ in inner(stmt)]


def _part(block: list[ast.stmt], place: int, asserted: ast.Assert, lines: Lines) -> None:
    """Put the statements above the message of an `assert` under its test."""
    assert asserted.msg is not None
    line = min([row for node in nodes([asserted.msg]) if (row := row_of(node))], default=0)
    end = place + 1
    while end < len(block) and 0 < lines.first(block[end]) < line:
        end += 1
    if end == place + 1:
        return
    step("line {}: a test belongs to an `if`, and the `else` fails", lines.first(asserted))
    failing = ast.Assert(test=ast.Constant(value=False), msg=asserted.msg, lineno=line)
    test = ast.If(test=asserted.test, body=block[place + 1 : end], orelse=[failing], lineno=asserted.lineno)
    block[place:end] = [test]
