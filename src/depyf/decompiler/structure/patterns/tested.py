"""Which conditions test patterns: the cases of a `match` stand apart from each other and from all other tests."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import MatchTest
from depyf.decompiler.lift.references import referred


def first_subject(test: ast.expr) -> ast.expr | None:
    """Return the subject of the first pattern that a condition tests; None if it tests none."""
    work = [test]
    while work:
        one = referred(work.pop())
        if isinstance(one, MatchTest):
            return referred(one.subject)
        if isinstance(one, ast.BoolOp):
            work += reversed(one.values)
        elif isinstance(one, ast.UnaryOp):
            work.append(one.operand)
        elif isinstance(one, ast.IfExp):
            work += [one.orelse, one.body, one.test]
    return None
