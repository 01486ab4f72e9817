"""Split tests of several cases that have become one condition, because their bodies only jump.

Before: if not (t matches [a] or t matches [b]): c()
After:  if t matches [a]: pass
        elif t matches [b]: pass
        else: c()
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy

from depyf.decompiler.lift.nodes import MatchTest
from depyf.decompiler.passes.walk import of_kinds
from depyf.decompiler.steps import step

TESTS = frozenset({MatchTest})


def part_cases(stmt: ast.If, is_joined: Callable[[ast.expr], bool]) -> None:
    """Split the condition of an `if`, in place, so that each part tests one pattern and perhaps its guard.

    Args:
        is_joined: returns whether a condition without a pattern tests a subject for the values of several cases.
    """

    def tests_case(test: ast.expr) -> bool:
        return tests_pattern(test) or is_joined(test)

    work = [stmt]
    while work:
        node = work.pop()
        test = node.test
        if not tests_case(test):
            continue
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            step("line {}: negate a test that a pattern does not match", node.lineno)
            node.test, node.body, node.orelse = test.operand, node.orelse or [ast.Pass()], node.body
            work.append(node)
        elif isinstance(test, ast.BoolOp) and _starts_apart(test, tests_case) and _is_short(_shared(test, node)):
            step("line {}: split a condition: one pattern per test", node.lineno)
            inner = ast.If(test=_rest(test), body=node.body, orelse=node.orelse, lineno=node.lineno)
            node.test = test.values[0]
            # Each part gets its own copy of the arm that both lead to.
            if isinstance(test.op, ast.And):
                node.body, node.orelse = [inner], [copy(stmt) for stmt in node.orelse]
            else:
                node.body, node.orelse = [copy(stmt) for stmt in node.body] or [ast.Pass()], [inner]
            work += [inner, node]


def tests_pattern(test: ast.expr) -> bool:
    """Return whether any part of a condition tests a pattern."""
    return bool(of_kinds([test], TESTS))


def _starts_apart(test: ast.BoolOp, tests_case: Callable[[ast.expr], bool]) -> bool:
    """Return whether the first part of a condition is a separate case: not a pattern followed by its guard."""
    first = test.values[0]
    if isinstance(test.op, ast.Or):
        return tests_case(first) or (isinstance(first, ast.BoolOp) and tests_case(first.values[0]))
    return isinstance(first, ast.UnaryOp)


def _shared(test: ast.BoolOp, node: ast.If) -> list[ast.stmt]:
    """Return the arm that both parts of a condition lead to."""
    return node.orelse if isinstance(test.op, ast.And) else node.body


def _is_short(stmts: list[ast.stmt]) -> bool:
    """Return whether statements do nothing, or only jump."""
    if len(stmts) == 1 and isinstance(stmts[0], ast.Return):
        return stmts[0].value is None or isinstance(stmts[0].value, ast.Constant)
    return all(isinstance(stmt, (ast.Pass, ast.Break, ast.Continue)) for stmt in stmts)


def _rest(test: ast.BoolOp) -> ast.expr:
    return test.values[1] if len(test.values) == 2 else ast.BoolOp(op=test.op, values=test.values[1:])
