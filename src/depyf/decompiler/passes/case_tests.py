"""Tests of several cases that have become one condition, as their bodies do nothing.

Before: if not (t matches [a] or t matches [b]): c()
After:  if t matches [a]: pass
        elif t matches [b]: pass
        else: c()
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import MatchTest
from depyf.decompiler.passes.walk import of_kinds
from depyf.decompiler.steps import step

TESTS = frozenset({MatchTest})


def part_cases(stmt: ast.If) -> None:
    """Part the condition of an `if`, in place, so that each one tests one pattern and perhaps its guard."""
    work = [stmt]
    while work:
        node = work.pop()
        if not tests_pattern(node.test):
            continue
        test = node.test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            step("line {}: a test that a pattern does not match is turned round", node.lineno)
            node.test, node.body, node.orelse = test.operand, node.orelse or [ast.Pass()], node.body
            work.append(node)
        elif isinstance(test, ast.BoolOp) and _starts_apart(test) and _is_empty(_shared(test, node)):
            step("line {}: a condition is parted: one pattern a test", node.lineno)
            inner = ast.If(test=_rest(test), body=node.body, orelse=node.orelse, lineno=node.lineno)
            node.test = test.values[0]
            # The arm that both parts lead to does nothing; each gets one of its own.
            if isinstance(test.op, ast.And):
                node.body, node.orelse = [inner], [ast.Pass()] if node.orelse else []
            else:
                node.body, node.orelse = [ast.Pass()], [inner]
            work += [inner, node]


def tests_pattern(test: ast.expr) -> bool:
    """Say whether a pattern is tested anywhere in a condition."""
    return bool(of_kinds([test], TESTS))


def _starts_apart(test: ast.BoolOp) -> bool:
    """Say whether the first part of a condition is for a case of its own: no pattern with its guard behind it."""
    first = test.values[0]
    if isinstance(test.op, ast.Or):
        return tests_pattern(first)
    return isinstance(first, ast.UnaryOp)


def _shared(test: ast.BoolOp, node: ast.If) -> list[ast.stmt]:
    """Return the arm that both parts of a condition lead to."""
    return node.orelse if isinstance(test.op, ast.And) else node.body


def _is_empty(stmts: list[ast.stmt]) -> bool:
    return all(isinstance(stmt, ast.Pass) for stmt in stmts)


def _rest(test: ast.BoolOp) -> ast.expr:
    return test.values[1] if len(test.values) == 2 else ast.BoolOp(op=test.op, values=test.values[1:])
