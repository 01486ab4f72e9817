"""Find chained comparisons in tests: the next one uses the right operand of the previous one.

Before: a < b, and if that is so: not b < c or d      (b computed once)
After:  not a < b < c or d

The first comparison joins the second if both failures have the same effect. That holds if the test begins with the
second, and its failure alone decides the test.
"""

from __future__ import annotations

import ast

from depyf.decompiler.structure.polarity import negated


def link(test: ast.expr, outcome: bool) -> ast.Compare | None:
    """Return the first comparison of a test, if its failure gives the whole test the value `outcome`."""
    deciding = _deciding(test, outcome)
    return deciding[0] if deciding is not None and not deciding[1] else None


def turned(test: ast.expr, outcome: bool) -> ast.expr:
    """Return a test with its leading `x is None` replaced by `not x is not None`, and the reverse.

    A jump that itself compares with None stands for both.
    """
    deciding = _deciding(test, outcome)
    if deciding is None or not deciding[1] or not getattr(deciding[0], "fused", False):
        return test
    return with_link(test, deciding[0], ast.UnaryOp(op=ast.Not(), operand=negated(deciding[0])))


def _deciding(test: ast.expr, outcome: bool) -> tuple[ast.Compare, bool] | None:
    """Return the first comparison of a test, and its value that gives the whole test an outcome."""
    while True:
        match test:
            case ast.BoolOp(op=ast.Or()) if outcome:
                test = test.values[0]
            case ast.BoolOp(op=ast.And()) if not outcome:
                test = test.values[0]
            case ast.UnaryOp(op=ast.Not()):
                test, outcome = test.operand, not outcome
            case ast.Compare():
                return test, outcome
            case _:
                return None


def with_link(test: ast.expr, old: ast.Compare, new: ast.expr) -> ast.expr:
    """Return a test with its first comparison replaced.

    Args:
        test: the whole test.
        old: its first comparison.
        new: the expression to put there.
    """
    spine: list[ast.BoolOp | ast.UnaryOp] = []
    while test is not old:
        assert isinstance(test, (ast.BoolOp, ast.UnaryOp))
        spine.append(test)
        test = test.values[0] if isinstance(test, ast.BoolOp) else test.operand
    for outer in reversed(spine):
        if isinstance(outer, ast.BoolOp):
            new = ast.BoolOp(op=outer.op, values=[new, *outer.values[1:]])
        elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not):
            new = new.operand
        else:
            new = ast.UnaryOp(op=outer.op, operand=new)
    return new
