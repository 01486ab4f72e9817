"""`else: assert False`, which arrives as an `assert` of the previous test.

Before: else:                    After:  elif b:
            assert b, c                      d
            d                            else:
                                             assert False, c

A test that begins five columns to the right of its statement follows `elif`, not `assert`.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.walk import compounds
from depyf.decompiler.passes.written.columns import Columns, leading_nots, start_of
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
