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
    """Return the opposite of a test, with as few `not` as that takes."""
    if isinstance(test, ast.BoolOp) and _has_less_not_inside(test.values):
        # A jump on either is a jump on each operand, to the same places.
        op = ast.And() if isinstance(test.op, ast.Or) else ast.Or()
        return ast.BoolOp(op=op, values=[_opposite(value) for value in test.values])
    return _opposite(test)


def _is_not(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _is_fused(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and getattr(test, "fused", False)


def _other_sign(test: ast.Compare) -> ast.Compare:
    op = ast.IsNot() if isinstance(test.ops[0], ast.Is) else ast.Is()
    opposite = ast.Compare(left=test.left, ops=[op], comparators=test.comparators)
    opposite.fused = True  # type: ignore[attr-defined]
    return opposite


def _has_less_not_inside(values: list[ast.expr]) -> bool:
    """Say whether the opposites of some operands hold less `not` than one before them all, and each has one."""
    lost = sum(map(_is_not, values))
    gaining = [value for value in values if not _is_not(value) and not _is_fused(value)]
    return len(gaining) < 1 + lost and not any(map(keeps_polarity, gaining))


def _opposite(test: ast.expr) -> ast.expr:
    """Return the opposite of a test; what it is made of stays as it is."""
    if _is_not(test):
        return test.operand  # type: ignore[attr-defined, no-any-return]
    return _other_sign(test) if _is_fused(test) else ast.UnaryOp(op=ast.Not(), operand=test)  # type: ignore[arg-type]
