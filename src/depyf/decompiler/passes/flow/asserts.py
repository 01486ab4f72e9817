"""`assert`.

Before: if not c: raise AssertionError(m)       if a and not c: raise AssertionError(m)
After:  assert c, m                             if a: assert c, m

If the second form is on one line, it becomes `assert not a or c, m`. A raise without a test comes from a constantly
false test.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.extent import row_of
from depyf.decompiler.lift.nodes import Common, ExcMatch, literal
from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.groups import BUILTINS
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.source_form.brackets import NOT, WORDS, gap_between
from depyf.decompiler.passes.source_form.columns import start_of
from depyf.decompiler.passes.source_form.forms import leading_nots
from depyf.decompiler.passes.walk import NESTS, inner, nodes, rewrite_sequences
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_not, negated


@registers(
    "asserts",
    Stage.STATEMENTS,
    "turn raises of AssertionError into `assert`",
    takes=("stmts",),
    applies=structures,
    needs=BUILTINS,
    after={"matches": "the test of a pattern before a raise is a `match`"},
    before={"tidy": "an assertion is recognised by its `else`, which the other pass removes"},
)
def restore_asserts(body: list[ast.stmt]) -> list[ast.stmt]:
    """Replace every test that raises the compiler's own AssertionError."""
    _restore_tested(body)
    return rewrite_sequences(body, _untested)


def _restore_tested(body: list[ast.stmt]) -> None:
    """Replace tests in place, outer ones first: in a row, each is in the second arm of the previous one."""
    work = [body]
    while work:
        stmts = work.pop()
        place = 0
        while place < len(stmts):
            stmt = stmts[place]
            if isinstance(stmt, ast.If) and (replacement := _assert(stmt)):
                stmts[place : place + 1] = replacement
            elif NESTS[type(stmt)]:
                work += [sequence for sequence, _, _ in inner(stmt)]
            place += 1


def _untested(stmts: list[ast.stmt]) -> list[ast.stmt]:
    return [
        ast.Assert(test=literal(False), msg=_message([stmt]), lineno=stmt.lineno) if _raises([stmt]) else stmt
        for stmt in stmts
    ]


def _assert(stmt: ast.If) -> list[ast.stmt]:
    """Return an `assert` and the statements after it, or nothing if a test is not an `assert`."""
    if isinstance(stmt.test, ExcMatch):
        return []
    if _raises(stmt.orelse):
        step("line {}: a test that raises AssertionError becomes `assert`", stmt.lineno)
        body = [] if len(stmt.body) == 1 and isinstance(stmt.body[0], ast.Pass) else stmt.body
        return [ast.Assert(test=stmt.test, msg=_message(stmt.orelse), lineno=stmt.lineno), *body]
    if _raises(stmt.body):
        step("line {}: a test that raises AssertionError becomes `assert`", stmt.lineno)
        conditions, test = _parted(stmt.test, getattr(stmt.body[0], "lineno", 0))
        asserted: ast.stmt = ast.Assert(test=test, msg=_message(stmt.body), lineno=stmt.lineno)
        if conditions:
            asserted = ast.If(test=_all(conditions), body=[asserted], orelse=[], lineno=stmt.lineno)
        return [asserted, *stmt.orelse]
    return []


def _parted(test: ast.expr, line: int) -> tuple[list[ast.expr], ast.expr]:
    """Return the conditions of an assertion, and the asserted expression, for a test that must not hold.

    A raise if none of several tests holds asserts that one does. An `assert` raises on its first `line`: a test above
    that line is a condition.
    """
    values = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    lines = [_line(value) for value in values]
    outside = (
        next((place for place, value_line in enumerate(lines) if value_line >= line), 0) if line and all(lines) else 0
    )
    conditions, inside = values[:outside], values[outside:]
    if all(map(is_not, inside)):
        held = [negated(value) for value in inside]
        return conditions, held[0] if len(held) == 1 else ast.BoolOp(op=ast.Or(), values=held)
    more: list[ast.expr] = []
    last = _all(inside)
    while isinstance(last, ast.BoolOp) and isinstance(last.op, ast.And):
        more += last.values[:-1]
        last = last.values[-1]
    if not is_not(last):
        return conditions, ast.UnaryOp(op=ast.Not(), operand=_all(inside))
    alternatives = [*map(negated, more), last.operand]
    if more and _are_alternatives(alternatives):
        return conditions, ast.BoolOp(op=ast.Or(), values=alternatives)
    return [*conditions, *more], last.operand


def _line(test: ast.expr) -> int:
    """Return the line on which a test begins, 0 if unknown."""
    start = start_of(test)
    return start[0] if start is not None else min(filter(None, map(row_of, nodes([test]))), default=0)


def _are_alternatives(tests: list[ast.expr]) -> bool:
    """Return whether the gaps between tests fit only `or`; without columns, whether the tests are on one line."""
    rows = [{row for node in nodes([test]) if (row := row_of(node))} for test in tests]
    if all(rows):
        return len(set().union(*rows)) == 1
    gaps = [(gap_between(previous, other), other) for previous, other in zip(tests, tests[1:])]
    return all(gap == WORDS[ast.Or] + NOT * leading_nots(other) for gap, other in gaps)


def _all(conditions: list[ast.expr]) -> ast.expr:
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(op=ast.And(), values=conditions)


def _raises(stmts: list[ast.stmt]) -> bool:
    if len(stmts) != 1 or not isinstance(stmts[0], ast.Raise) or stmts[0].cause is not None:
        return False
    raised = stmts[0].exc
    if isinstance(raised, ast.Call) and len(raised.args) == 1 and not raised.keywords:
        raised = raised.func
    return isinstance(raised, Common) and raised.id == "AssertionError"


def _message(stmts: list[ast.stmt]) -> ast.expr | None:
    (stmt,) = stmts
    assert isinstance(stmt, ast.Raise)
    return stmt.exc.args[0] if isinstance(stmt.exc, ast.Call) else None
