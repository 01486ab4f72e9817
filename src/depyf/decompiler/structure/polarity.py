"""Decide which tests may be negated without becoming another operation."""

from __future__ import annotations

import ast
from typing import TypeGuard

from depyf.decompiler.lift.nodes import MatchTest


def keeps_polarity(test: ast.expr | None) -> bool:
    """Return whether `not test` would compile to another operation: `not a in b` is `a not in b`.

    A comparison with None in the jump itself does not count, because `is` and `is not` are then the same.
    """
    if isinstance(test, MatchTest):
        return True
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    return isinstance(test.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot)) and not getattr(test, "fused", False)


def negated(test: ast.expr) -> ast.expr:
    """Return the opposite of a test, with as few `not` as possible."""
    if isinstance(test, ast.BoolOp) and goes_inside(test):
        # A jump on either is a jump on each operand, to the same places.
        op = ast.And() if isinstance(test.op, ast.Or) else ast.Or()
        return ast.BoolOp(op=op, values=[_opposite(value) for value in test.values])
    return _opposite(test)


def is_not(test: ast.expr) -> TypeGuard[ast.UnaryOp]:
    """Return whether a test is the opposite of another one."""
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def is_fused(test: ast.expr) -> TypeGuard[ast.Compare]:
    """Return whether a test compares with None in the jump, which expresses `is` and `is not` equally well."""
    return getattr(test, "fused", False)


def _other_sign(test: ast.Compare) -> ast.Compare:
    op = ast.IsNot() if isinstance(test.ops[0], ast.Is) else ast.Is()
    opposite = ast.Compare(left=test.left, ops=[op], comparators=test.comparators)
    opposite.fused = True  # type: ignore[attr-defined]
    return opposite


def goes_inside(test: ast.BoolOp) -> bool:
    """Return whether the opposite of a test is more readable with negated operands, and each operand has an opposite.

    People write `not a and not b`, and not `not (a or b)`. For `not (a and b)` the operands are negated if that takes
    at most as many `not`: `a is None or not b`, `not a or b or not c`.
    """
    lost = sum(map(is_not, test.values))
    gaining = [value for value in test.values if not is_not(value) and not is_fused(value)]
    most = lost + (lost > 0 or any(map(is_fused, test.values)))
    is_shorter = isinstance(test.op, ast.Or) or len(gaining) <= most
    return is_shorter and not any(map(keeps_polarity, gaining))


def _opposite(test: ast.expr) -> ast.expr:
    """Return the opposite of a test without changing its operands."""
    if is_not(test):
        return test.operand
    return _other_sign(test) if is_fused(test) else ast.UnaryOp(op=ast.Not(), operand=test)
