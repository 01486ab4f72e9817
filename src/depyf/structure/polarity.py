"""Which tests may be negated without becoming another operation."""

from __future__ import annotations

import ast

from depyf.lift.nodes import MatchTest


def keeps_polarity(test: ast.expr) -> bool:
    """Say whether `not test` would be compiled as another operation: `not a in b` is `a not in b`.

    A comparison with None is none of these where the jump itself makes it, as `is` and `is not` are then one.
    """
    if isinstance(test, MatchTest):
        return True
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    return isinstance(test.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot)) and not getattr(test, "fused", False)


def negated(test: ast.expr) -> ast.expr:
    """Return the opposite of a test."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if getattr(test, "fused", False) and isinstance(test, ast.Compare):
        op = ast.IsNot() if isinstance(test.ops[0], ast.Is) else ast.Is()
        opposite = ast.Compare(left=test.left, ops=[op], comparators=test.comparators)
        opposite.fused = True  # type: ignore[attr-defined]
        return opposite
    return ast.UnaryOp(op=ast.Not(), operand=test)
