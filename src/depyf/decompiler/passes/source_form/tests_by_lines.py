"""Split tests of several statements that arrive as one with a longer test, for code with lines only.

Before: 2: if a or          After:  2: if a:
        4:     b:                   3:     return
        5:     return               4: if b:
                                    5:     return

Authors who break a test over lines skip no line, and do not break a test of two parts that fits on one line.
"""

from __future__ import annotations

import ast
import copy
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from depyf.bytecode.line_table import read_lines
from depyf.bytecode.listing import Listing
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.lift.extent import row_of
from depyf.decompiler.passes.source_form.guards import operands
from depyf.decompiler.passes.walk import inner, nodes
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_fused, is_not, negated

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
WIDTH, UNIT = 79, 4
WAY_OUT = 2
"""The number of lines from a test to the next one if there is an exit between them."""
Block = tuple[list[ast.stmt], ast.stmt | None, int]
"""Statements, the effect of reaching their end, and their nesting depth."""


class Between(NamedTuple):
    """The lines of a code object, sorted.

    has_all: each exit and each `pass` has its line among them: tests without a line between them follow each other.
    """

    lines: list[int]
    has_all: bool

    def is_free(self, first: int, last: int) -> bool:
        """Return whether no instruction is on a line between two others."""
        return bisect_right(self.lines, first) == bisect_left(self.lines, last)


UNKNOWN = Between([], False)


def lines_between(listing: Listing) -> Between:
    """Return the lines of a code object."""
    table = facts_of(listing.code.version, str(listing.code)).lines
    known = {line for line in read_lines(listing.code, table) if line is not None}
    return Between(sorted(known), table == "ranges")


def restore_tests_by_lines(body: list[ast.stmt], depth: int, between: Between = UNKNOWN) -> None:
    """Split the tests that lines show as separate, in place; `depth` is the nesting depth of the body."""
    work: list[Block] = [(body, ast.Return(value=None), depth)]
    for block, end, depth in work:  # The list grows during the iteration.
        for place in range(len(block) - 1, -1, -1):
            if isinstance(block[place], ast.If):
                _part(block, place, end if place == len(block) - 1 else None, depth, between)
        for stmt in block:
            after = end if stmt is block[-1] else None
            for below, _, name in inner(stmt):
                is_elif = name == "orelse" and isinstance(stmt, ast.If) and len(below) == 1
                work.append((below, _end(stmt, name, after), depth + (not is_elif)))


def _end(stmt: ast.stmt, name: str, after: ast.stmt | None) -> ast.stmt | None:
    """Return the effect of reaching the end of a statement's block; `after` is that after the statement."""
    if isinstance(stmt, LOOPS) and name == "body":
        return ast.Continue()
    return after if isinstance(stmt, (ast.If, *LOOPS)) else None


def _part(block: list[ast.stmt], place: int, end: ast.stmt | None, depth: int, between: Between) -> None:
    """Split the test of one statement of a block, in place."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    _join_nests(stmt)
    if _part_alternatives(block, place, between) or stmt.orelse:
        return
    if not (_part_idle(stmt, between) if end is None else _part_guard(block, place, end, between)):
        _part_nest(stmt, depth)


def _join_nests(stmt: ast.If) -> None:
    """Join a test with one inside of it on the same line, where no second statement can begin."""
    while not stmt.orelse and len(stmt.body) == 1:
        below = stmt.body[0]
        if not isinstance(below, ast.If) or below.orelse or _gap(stmt.test, below.test) != 0:
            return
        if not _rows(stmt.test) or not _rows(below.test):
            return
        step("line {}: join two tests on one line", stmt.lineno)
        values = [each for test in (stmt.test, below.test) for each in _values(test)]
        stmt.test, stmt.body = _joined(values, ast.And()), below.body


def _part_alternatives(block: list[ast.stmt], place: int, between: Between) -> bool:
    """Give each of several tests with the same exit its own statement; return whether there are several."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    way_out = stmt.body[0]
    if not isinstance(way_out, ENDS) or not _is_constant(way_out):
        return False
    groups = _groups(stmt.test, ast.Or, between)
    if len(groups) < 2:
        return False
    step("line {}: split a test between {} statements", stmt.lineno, len(groups))
    found: list[ast.stmt] = [_test(_joined(group, ast.Or()), [copy.copy(way_out)]) for group in groups]
    for one in found[:-1]:
        assert isinstance(one, ast.If)
        one.body[0].lineno = max(_rows(one.test)) + 1
    last = found[-1]
    assert isinstance(last, ast.If)
    last.body, last.orelse = stmt.body, stmt.orelse
    block[place : place + 1] = found
    return True


def _part_guard(block: list[ast.stmt], place: int, end: ast.stmt, between: Between) -> bool:
    """Make the last statement of a block an exit, and move the rest of its test to a statement after it."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    parts = _apart(stmt, between)
    if parts is None:
        return False
    step("line {}: a test belongs to an exit", stmt.lineno)
    first, rest = parts
    way_out = copy.copy(end)
    way_out.lineno = max(_rows(first)) + 1
    block[place:] = [_test(negated(first), [way_out]), *rest]
    return True


def _part_idle(stmt: ast.If, between: Between) -> bool:
    """Give a statement an empty first arm, and test the rest of its test in an `elif`."""
    parts = _apart(stmt, between)
    if parts is None:
        return False
    first, rest = parts
    step("line {}: an arm does nothing, and has an `elif`", stmt.lineno)
    stmt.test, stmt.body, stmt.orelse = negated(first), [ast.Pass()], rest
    return True


def _apart(stmt: ast.If, between: Between) -> tuple[ast.expr, list[ast.stmt]] | None:
    """Return a test whose opposite leads past the next one, and the statements for it."""
    groups = _groups(stmt.test, ast.And, between)
    first = _joined(groups[0], ast.And())
    if not is_not(first) and not is_fused(first):
        return None
    if len(groups) > 1:
        rest: list[ast.stmt] = [_test(_joined([each for group in groups[1:] for each in group], ast.And()), stmt.body)]
        return (first, rest) if _has_way_out(first, groups[1][0], between) else None
    below = stmt.body[0]
    if len(stmt.body) > 1 or not isinstance(below, ast.If):
        return None
    return (first, stmt.body) if _has_way_out(first, below.test, between) else None


def _has_way_out(one: ast.expr, other: ast.expr, between: Between) -> bool:
    """Return whether there is an exit or a `pass` between two tests: its line is known, or there is one line for it."""
    rows, others = _rows(one), _rows(other)
    if not rows or not others:
        return False
    is_free = between.is_free(max(rows), min(others))
    return not is_free or (not between.has_all and min(others) - max(rows) == WAY_OUT)


def _part_nest(stmt: ast.If, depth: int) -> None:
    """Split a test on two lines that fits on one between two statements; also one with a skipped line."""
    test = stmt.test
    while isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        values = test.values
        gaps = [_gap(one, other) for one, other in zip(values, values[1:])]
        place = next((number for number, gap in enumerate(gaps, 1) if gap > 0), 0)
        needs_brackets = len(values) - place == 1 and _is_bracketed(values)
        is_short = sum(gap > 0 for gap in gaps) == 1 and depth * UNIT + len("if :") + width(test) <= WIDTH
        if gaps[place - 1] < WAY_OUT and not (is_short or needs_brackets):
            return
        step("line {}: split a test between two statements", stmt.lineno)
        inside = _test(_joined(values[place:], ast.And()), stmt.body)
        stmt.test, stmt.body = _joined(values[:place], ast.And()), [inside]
        stmt, test, depth = inside, inside.test, depth + 1


def _groups(test: ast.expr, op: type[ast.boolop], between: Between) -> list[list[ast.expr]]:
    """Return the operands of a test, split where there is a line for an exit between two of them."""
    values = operands(test, op)
    groups = [values[:1]]
    for before, value in zip(values, values[1:]):
        if _has_line(before, value, between):
            groups.append([value])
        else:
            groups[-1].append(value)
    return groups


def _is_bracketed(values: list[ast.expr]) -> bool:
    """Return whether the first of two operands is an `or` on one line, and the other one a single test."""
    rows = _rows(values[0])
    is_or = isinstance(values[0], ast.BoolOp) and not isinstance(values[-1], ast.BoolOp)
    return is_or and len(values) == 2 and bool(rows) and min(rows) == max(rows)


def _has_line(one: ast.expr, other: ast.expr, between: Between) -> bool:
    """Return whether there is a line for an exit between two tests."""
    gap = _gap(one, other)
    return gap >= WAY_OUT and not (between.has_all and between.is_free(max(_rows(one)), max(_rows(one)) + gap))


def _gap(one: ast.expr, other: ast.expr) -> int:
    """Return how many lines below one operand another begins, 0 if unknown."""
    rows, others = _rows(one), _rows(other)
    return min(others) - max(rows) if rows and others else 0


def _rows(expr: ast.expr) -> list[int]:
    return [row for node in nodes([expr]) if (row := row_of(node))]


def _values(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _test(test: ast.expr, body: list[ast.stmt]) -> ast.If:
    return ast.If(test=test, body=body, orelse=[], lineno=min(_rows(test), default=0))


def _joined(tests: list[ast.expr], op: ast.boolop) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(op=op, values=tests)


def _is_constant(stmt: ast.stmt) -> bool:
    """Return whether an exit computes nothing."""
    value = getattr(stmt, "value", None)
    return not isinstance(stmt, ast.Raise) and (value is None or isinstance(value, ast.Constant))


def width(test: ast.expr) -> int:
    """Return the approximate width of an expression in columns."""
    found = 0
    for node in nodes([test]):
        match node:
            case ast.Name(id=text) | ast.Attribute(attr=text):
                found += len(text) + isinstance(node, ast.Attribute)
            case ast.Constant(value):
                found += len(repr(value))
            case ast.Call(args=args, keywords=keywords):
                found += 2 + 2 * max(0, len(args) + len(keywords) - 1)
            case ast.keyword(arg=name):
                found += len(name or "**") + 1
            case ast.Compare(ops=ops):
                found += sum(8 if isinstance(op, (ast.NotIn, ast.IsNot)) else 4 for op in ops)
            case ast.BoolOp(values=values):
                found += 5 * (len(values) - 1)
            case ast.UnaryOp() | ast.BinOp() | ast.Subscript():
                found += 4 if is_not(node) else 3
    return found


__all__ = ["restore_tests_by_lines", "width"]
