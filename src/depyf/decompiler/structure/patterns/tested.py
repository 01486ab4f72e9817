"""Which conditions are heads: cases of a `match`, and clauses, stand apart from each other and from all other tests."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import ExcMatch, MatchTest
from depyf.decompiler.lift.references import referred


def first_subject(test: ast.expr) -> ast.expr | None:
    """Return what the first head in a condition is about: the subject of a pattern, or the test of a clause, whole;
    None if it has none."""
    work = [test]
    while work:
        one = referred(work.pop())
        if isinstance(one, MatchTest):
            return referred(one.subject)
        if isinstance(one, ExcMatch):
            return one
        if isinstance(one, ast.BoolOp):
            work += reversed(one.values)
        elif isinstance(one, ast.UnaryOp):
            work.append(one.operand)
        elif isinstance(one, ast.IfExp):
            work += [one.orelse, one.body, one.test]
    return None
