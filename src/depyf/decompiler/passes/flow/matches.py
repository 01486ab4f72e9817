"""`match`.

Before: t = x                               After:  match x:
        if t == 1: a()                                  case 1: a()
        elif <t matches [b, c]> and b: d()              case [b, c] if b: d()
        else: e = t; f(e)                               case e: f(e)
"""

from __future__ import annotations

import ast
from functools import partial
from typing import cast

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.nodes import Capture, MatchTest, Temp, Var
from depyf.decompiler.lift.references import referred
from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.flow.case_tests import part_cases, tests_pattern
from depyf.decompiler.passes.groups import FLOW, KEPT
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import compounds, of_kinds, rewrite_sequences
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import negated

TEMPS = frozenset({Temp})


@registers(
    "matches",
    Stage.STATEMENTS,
    "turn tests of patterns into `match`",
    takes=("stmts", "graph", "ops"),
    optional=True,
    applies=structures,
    needs=FLOW,
)
def restore_matches_of(body: list[ast.stmt], graph: Graph, ops: frozenset[str]) -> list[ast.stmt] | None:
    """Return statements with `match` for tests of patterns, or None if the code tests no value twice.

    Args:
        body: the statements.
        graph: the graph that they come from, with the values on the stack at each test.
        ops: the operations of the code object.
    """
    return restore_matches(body) if not KEPT.isdisjoint(ops) or any(graph.waiting.values()) else None


def restore_matches(body: list[ast.stmt]) -> list[ast.stmt]:
    """Turn chains of tests of one value for patterns into `match` statements."""
    stmts = rewrite_sequences(body, _sequence)
    matches = [stmt for stmt in compounds(stmts) if isinstance(stmt, ast.Match)]
    matched = [(stmt, temp) for stmt in matches if (temp := getattr(stmt, "taken", -1)) >= 0]
    left = {node.temp for node in of_kinds(stmts, TEMPS)} if matched else set()
    for stmt, temp in matched:
        if temp in left:  # A case that leaves a loop may bind the subject after the loop.
            target = cast(ast.Name, Temp(temp=temp))
            stmt.subject = ast.NamedExpr(target=target, value=stmt.subject)
    return stmts


def _sequence(stmts: list[ast.stmt]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, ast.If):
            part_cases(stmt, partial(_tests_values, _assigned(out)))
            out.append(_matched(out, stmt))
            continue
        out.append(_headed(out, stmt) if isinstance(stmt, ast.Match) else stmt)
    return out


def _matched(before: list[ast.stmt], stmt: ast.If) -> ast.stmt:
    """Return the `match` that begins with a test, or the test; the subject is taken from the end of `before`."""
    tested = _pattern(stmt.test)
    subject: ast.expr | None = _assigned(before)
    if tested is not None and (tests_pattern(stmt.test) if subject is None else not _same(tested[0], subject)):
        subject = tested[0]
    if subject is None:
        return stmt
    cases, rest = _cases([stmt], subject)
    if not _is_match(cases, rest, subject):
        return stmt
    cases += rest
    step("line {}: {} tests of one value become `match`", stmt.lineno, len(cases))
    return _headed(before, ast.Match(subject=subject, cases=cases, lineno=stmt.lineno))


def _is_match(cases: list[ast.match_case], rest: list[ast.match_case], subject: ast.expr) -> bool:
    """Return whether cases test their subject, and only their patterns use it.

    The cases in `rest` are known to do so.
    """
    if all(_is_wildcard(case) for case in [*cases, *rest]):
        return False
    parts: list[ast.stmt] = []
    for case in cases:
        parts.extend(case.body)
        if case.guard is not None:
            parts.append(ast.Expr(value=case.guard))
    return not _goes_on(parts, subject)


def _assigned(before: list[ast.stmt]) -> Temp | None:
    """Return the temporary that the last statement assigns."""
    last = before[-1] if before else None
    if not isinstance(last, ast.Assign) or not isinstance(last.targets[-1], Temp) or len(last.targets) > 2:
        return None
    return last.targets[-1]


def _headed(before: list[ast.stmt], stmt: ast.Match) -> ast.stmt:
    """Replace the subject by the value that the previous statement assigns to it; its first target captures it."""
    subject = _assigned(before)
    if subject is None or not _same(stmt.subject, subject):
        return stmt
    last = before[-1]
    assert isinstance(last, ast.Assign)
    target = last.targets[0]
    if len(last.targets) == 2:
        first = stmt.cases[0]
        if not isinstance(target, Var) or not _is_wildcard(first) or first.guard is None:
            return stmt
        first.pattern = Capture(None, target)
    step("line {}: the matched value moves to the head", stmt.lineno)
    before.pop()
    stmt.subject = last.value
    stmt.taken = subject.temp  # type: ignore[attr-defined]
    return stmt


def _is_wildcard(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.name is None


def _cases(rest: list[ast.stmt], subject: ast.expr) -> tuple[list[ast.match_case], list[ast.match_case]]:
    """Return the cases at the start of a chain of tests of one subject, and the cases of a `match` at its end."""
    cases: list[ast.match_case] = []
    while rest:
        capture = _captured(rest[0], subject)
        behind = rest[1:] if capture is not None else rest
        only = behind[0] if len(behind) == 1 else None
        if isinstance(only, ast.If) and isinstance(subject, Temp):
            part_cases(only, partial(_tests_values, subject))
        if isinstance(only, ast.Match) and capture is None and _same(only.subject, subject):
            return cases, only.cases
        if isinstance(only, ast.If):
            if cases or _begins_case(only.body[0], subject):
                _turn(only, subject)
            case = _tested_case(only, subject, capture)
            if case is not None:
                cases.append(case)
                rest = only.orelse
                continue
        if not all(isinstance(stmt, ast.Pass) for stmt in rest):
            cases.append(ast.match_case(pattern=Capture(None, capture), guard=None, body=behind or [ast.Pass()]))
        break
    return cases, []


def _tested_case(test: ast.If, subject: ast.expr, capture: Var | None) -> ast.match_case | None:
    """Return the case for a test of the subject; one that captures it may have any guard, if cases follow."""
    tested = _pattern(test.test) if capture is None else None
    if tested is not None and _same(tested[0], subject):
        return ast.match_case(pattern=tested[1], guard=tested[2], body=_case_body(test))
    if _goes_on(test.orelse, subject):
        return ast.match_case(pattern=Capture(None, capture), guard=test.test, body=_case_body(test))
    return None


def _case_body(test: ast.If) -> list[ast.stmt]:
    """Return the body of a case: `pass` if it only does what happens after the match anyway."""
    only = test.body[0] if len(test.body) == 1 else None
    return [ast.Pass()] if getattr(only, "is_implied", False) else test.body


def _turn(stmt: ast.If, subject: ast.expr) -> None:
    """Negate a test, in place, that asks whether a subject does not match: the body of that case is empty."""
    test = inner = stmt.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        inner = ast.Compare(left=test.left, ops=[ast.Is()], comparators=test.comparators)
    tested = _pattern(inner)
    if inner is not test and tested is not None and _same(tested[0], subject):
        step("line {}: negate a test that a pattern does not match", stmt.lineno)
        stmt.test, stmt.body, stmt.orelse = inner, stmt.orelse or [ast.Pass()], stmt.body
    elif _pattern(test) is None and not stmt.orelse and _goes_on(stmt.body, subject):
        step("line {}: negate a guard: its case does nothing", stmt.lineno)
        stmt.test, stmt.body, stmt.orelse = negated(test), [ast.Pass()], stmt.body


def _captured(stmt: ast.stmt, subject: ast.expr) -> Var | None:
    """Return the variable that a statement binds to the subject."""
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and _same(stmt.value, subject):
        target = stmt.targets[0]
        return target if isinstance(target, Var) else None
    return None


def _begins_case(stmt: ast.stmt, subject: ast.expr) -> bool:
    """Return whether a statement captures the subject, or matches it with further cases."""
    if isinstance(stmt, ast.Match):
        return isinstance(subject, Temp) and _same(stmt.subject, subject)
    return _captured(stmt, subject) is not None


def _goes_on(stmts: list[ast.stmt], subject: ast.expr) -> bool:
    """Return whether statements test the subject further."""
    return isinstance(subject, Temp) and any(_same(node, subject) for node in of_kinds(stmts, TEMPS))


def _same(left: ast.expr, right: ast.expr) -> bool:
    left, right = referred(left), referred(right)
    return left is right or (isinstance(left, Temp) and isinstance(right, Temp) and left.temp == right.temp)


def _pattern(test: ast.expr) -> tuple[ast.expr, ast.pattern, ast.expr | None] | None:
    """Return subject, pattern and guard of a test."""
    guards: list[ast.expr] = []
    while isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        guards[:0] = test.values[1:]
        test = test.values[0]
    subject_patterns = [_single(alternative) for alternative in _alternatives(test)]
    patterns: list[ast.pattern] = []
    subject: ast.expr | None = None
    for subject_pattern in subject_patterns:
        if subject_pattern is None or (subject is not None and not _same(subject, subject_pattern[0])):
            return None
        subject = subject_pattern[0]
        patterns.extend(
            subject_pattern[1].patterns if isinstance(subject_pattern[1], ast.MatchOr) else [subject_pattern[1]]
        )
    assert subject is not None
    pattern = patterns[0] if len(patterns) == 1 else ast.MatchOr(patterns=patterns)
    guard = guards[0] if len(guards) == 1 else ast.BoolOp(op=ast.And(), values=guards) if guards else None
    return subject, pattern, guard


def _alternatives(test: ast.expr) -> list[ast.expr]:
    """Return the operands of `or` tests, in order."""
    operands: list[ast.expr] = []
    work = [test]
    while work:
        expr = work.pop()
        if isinstance(expr, ast.BoolOp) and isinstance(expr.op, ast.Or):
            work.extend(reversed(expr.values))
        else:
            operands.append(expr)
    return operands


def _tests_values(subject: Temp | None, test: ast.expr) -> bool:
    """Return whether a condition, or its first part, tests a subject for several values."""
    if subject is None:
        return False
    first = test
    while isinstance(first, (ast.BoolOp, ast.UnaryOp)):
        first = first.values[0] if isinstance(first, ast.BoolOp) else first.operand
    tested = _single(first)
    return tested is not None and _same(tested[0], subject) and (first is test or _pattern(test) is None)


def _single(test: ast.expr) -> tuple[ast.expr, ast.pattern] | None:
    """Return subject and pattern of a test for one pattern."""
    if isinstance(test, MatchTest):
        return test.subject, test.pattern
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(referred(test.left), Temp):
        return None
    value = referred(test.comparators[0])
    if isinstance(test.ops[0], ast.Is) and isinstance(value, ast.Constant) and type(value.value) in (bool, type(None)):
        pattern = ast.MatchSingleton(value=None)
        pattern.value = value.value  # type: ignore[assignment]
        return test.left, pattern
    if isinstance(test.ops[0], ast.Eq) and _is_value(value):
        return test.left, ast.MatchValue(value=value)
    return None


def _is_value(expr: ast.expr) -> bool:
    """Return whether an expression may be a value pattern: a literal or a dotted name."""
    if isinstance(expr, ast.Constant):
        return type(expr.value) in (int, float, complex, str, bytes)
    if not isinstance(expr, ast.Attribute):
        return False
    while isinstance(expr, ast.Attribute):
        expr = referred(expr.value)
    return isinstance(expr, ast.Name)
