"""Which tests may be negated without becoming another operation."""

from __future__ import annotations

import ast


def keeps_polarity(test: ast.expr) -> bool:
    """Say whether `not test` would be compiled as another operation: `not a in b` is `a not in b`.

    A comparison with None is none of these where the jump itself makes it, as `is` and `is not` are then one.
    """
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    right = test.comparators[0]
    if isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return not (isinstance(right, ast.Constant) and right.value is None)
    return isinstance(test.ops[0], (ast.In, ast.NotIn))
