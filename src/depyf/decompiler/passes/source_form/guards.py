"""Split consecutive statements that leave a block in the same way, which arrive as one with a longer test.

Before: if a or b: continue      After:  if a: continue
                                         if b: continue

Before: if a and b: f()          After:  if not a: continue
                                         if b: f()

A test in the column of the first one, but not on the next line, belongs to another statement.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Set as AbstractSet

from depyf.decompiler.lift.extent import place_of
from depyf.decompiler.passes.source_form.behind import part_behind
from depyf.decompiler.passes.source_form.columns import Columns, leading_nots, start_of
from depyf.decompiler.passes.walk import compound, inner, nodes
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_not, negated

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
NOT = len("not ")
ELIF = len("elif ") - len("if ")
NO_LINES: AbstractSet[int] = frozenset()
Block = tuple[list[ast.stmt], ast.stmt | None, bool, int | None]
"""Statements, the effect of reaching their end, whether they are an `elif` if they are one `if`, and their column."""


def restore_guards(body: list[ast.stmt], columns: Columns, leaving: AbstractSet[int]) -> None:
    """Split the tests of statements that followed each other, in place.

    leaving: the lines of exits.
    """
    work: list[Block] = [(body, ast.Return(value=None), False, None)]
    for block, end, is_elif, column in work:  # The list grows during the iteration.
        for place in range(len(block) - 1, -1, -1):
            stmt = block[place]
            if not isinstance(stmt, ast.If):
                continue
            leaves = len(stmt.body) == 1 and isinstance(stmt.body[0], ENDS)
            if leaves:
                _part_alternatives(block, place, columns, is_elif, leaving)
            if not stmt.orelse and end is not None and place == len(block) - 1:
                if not _part_conditions(block, place, columns, end):
                    _turn_guard(block, place, columns, end, column)
            if stmt is block[-1] and end is not None:
                part_behind(block, stmt, columns, end)
        for stmt in compound(block):
            after = end if stmt is block[-1] else None
            own = columns.of_loop(stmt)
            work += [(below, *_context(stmt, name, below, after, columns), own) for below, _, name in inner(stmt)]


def _context(
    stmt: ast.stmt, name: str, below: list[ast.stmt], end: ast.stmt | None, columns: Columns
) -> tuple[ast.stmt | None, bool]:
    if isinstance(stmt, LOOPS):
        return (ast.Continue() if name == "body" else end), False
    if not isinstance(stmt, ast.If):
        return None, False
    is_elif = name == "orelse" and len(below) == 1 and isinstance(below[0], ast.If)
    if is_elif:
        assert isinstance(below[0], ast.If)
        own, other = (_keyword_end(each.test) for each in (stmt, below[0]))
        is_elif = own is not None and other is not None and other[1] - own[1] in (0, ELIF)
    return end, is_elif


def _turn_guard(block: list[ast.stmt], place: int, columns: Columns, end: ast.stmt, column: int | None) -> None:
    """Make a statement an exit if its body is in the statement's own column: the body follows it.

    column: of the block, if the statement around it shows it.
    """
    stmt, start = block[place], columns.starts.get(block[place])
    assert isinstance(stmt, ast.If)
    own = next((found for each in reversed(block[:place]) if (found := columns.column(each)) is not None), column)
    if own is None or start is None or columns.of_block(stmt.body) != own:
        return
    test = negated(stmt.test)
    if start[1] != own + len("if ") + NOT * leading_nots(test):
        return
    step("line {}: a test belongs to an exit", stmt.lineno)
    block[place + 1 :] = stmt.body
    stmt.test, stmt.body = test, [copy.copy(end)]


def _part_alternatives(
    block: list[ast.stmt], place: int, columns: Columns, is_elif: bool, leaving: AbstractSet[int]
) -> None:
    """Give each of several tests with the same exit its own statement."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    groups = _groups(operands(stmt.test, ast.Or), (0, ELIF), leaving)
    if len(groups) < 2:
        return
    step("line {}: split a test between {} statements", stmt.lineno, len(groups))
    rest, way_out = stmt.orelse, stmt.body
    keywords = [found for group in groups if (found := _keyword_end(group[0]))]
    tests = [joined(group, ast.Or()) for group in groups]
    stmt.test, stmt.orelse = tests[0], []
    block[place + 1 : place + 1] = []
    last, into, at = stmt, block, place
    for test, before, own in zip(tests[1:], keywords, keywords[1:]):
        following = ast.If(test=test, body=copy.deepcopy(way_out), orelse=[], lineno=own[0])
        columns.starts[following] = own[0], own[1] + NOT * leading_nots(test)
        if own[1] != before[1] or is_elif:
            last.orelse = into = [following]
            at = 0
        else:
            at += 1
            into.insert(at, following)
        last = following
    last.orelse = rest


def _part_conditions(block: list[ast.stmt], place: int, columns: Columns, end: ast.stmt) -> bool:
    """Give each test but the last a statement that leaves the block if the test fails; return whether this is done."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    groups = _groups(operands(stmt.test, ast.And), (0,), is_turned=True)
    if len(groups) < 2:
        return False
    step("line {}: split a test between {} statements", stmt.lineno, len(groups))
    guards: list[ast.stmt] = []
    for group in groups[:-1]:
        start = start_of(group[0])
        assert start is not None
        test = negated(joined(group, ast.And()))
        guards.append(ast.If(test=test, body=[copy.copy(end)], orelse=[], lineno=start[0]))
        columns.starts[guards[-1]] = start
    stmt.test = joined(groups[-1], ast.And())
    start = start_of(stmt.test)
    assert start is not None
    columns.starts[stmt] = start
    stmt.lineno = start[0]
    block[place:place] = guards
    return True


def operands(test: ast.expr, op: type[ast.boolop]) -> list[ast.expr]:
    """Return the tests of which one (`or`) or all (`and`) must hold."""
    found: list[ast.expr] = []
    work = [test]
    while work:
        one = work.pop()
        within = one.operand if is_not(one) else one
        if is_not(within):
            work.append(within.operand)
        elif isinstance(within, ast.BoolOp) and (type(within.op) is op) is (within is one):
            work += [value if within is one else negated(value) for value in reversed(within.values)]
        else:
            found.append(one)
    return found


def _groups(
    tests: list[ast.expr], steps: tuple[int, ...], leaving: AbstractSet[int] = NO_LINES, is_turned: bool = False
) -> list[list[ast.expr]]:
    """Return tests, grouped by statement.

    steps: by how many columns the next statement's keyword may be longer.
    leaving: the lines of exits: nothing else follows a test on such a line.
    is_turned: all statements but the last test the opposite.
    """
    groups = [tests[:1]]
    for before, test in zip(tests, tests[1:]):
        head, own = _keyword_end(groups[-1][0], is_turned), _keyword_end(test, is_turned and test is not tests[-1])
        ends = [place.end_line for node in nodes([before]) if (place := place_of(node)) is not None]
        if head is None or own is None or not ends or own[1] - head[1] not in steps:
            groups[-1].append(test)
        elif own[0] < max(ends) + (1 if max(ends) in leaving else 2):
            groups[-1].append(test)
        else:
            groups.append([test])
    return groups


def _keyword_end(test: ast.expr, is_turned: bool = False) -> tuple[int, int] | None:
    """Return where a test begins, including `not`, or None if unknown."""
    start = start_of(test)
    written = negated(test) if is_turned else test
    return None if start is None else (start[0], start[1] - NOT * leading_nots(written))


def joined(tests: list[ast.expr], op: ast.boolop) -> ast.expr:
    """Return one test for several of which one or all must hold."""
    return tests[0] if len(tests) == 1 else ast.BoolOp(op=op, values=tests)
