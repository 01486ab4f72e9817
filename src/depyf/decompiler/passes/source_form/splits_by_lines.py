"""Tests of several statements, for code with lines only: a line for an exit between two tests separates them.

Before: 2: if a or          After:  2: if a:
        4:     b:                   3:     return
        5:     return               4: if b:
                                    5:     return
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depyf.decompiler.lift.extent import forget_extent, row_of
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.forms import Block, Form, joined, operands, rewrite, values_of, walk
from depyf.decompiler.passes.source_form.lines import EXIT, Lines
from depyf.decompiler.passes.source_form.splits import Splits
from depyf.decompiler.passes.walk import nodes
from depyf.decompiler.structure.polarity import is_fused, is_not, negated

WIDTH, UNIT = 79, 4
PUNCTUATION: dict[type[ast.AST], int] = {
    ast.Call: 2,
    ast.Attribute: 1,
    ast.Compare: 4,
    ast.BoolOp: 5,
    ast.UnaryOp: 4,
    ast.BinOp: 3,
    ast.Subscript: 3,
    ast.keyword: 1,
}
"""About how many columns a node takes besides names and constants."""


def split_tests_by_lines(body: list[ast.stmt], columns: Columns, lines: Lines, depth: int) -> None:
    """Split tests into those of several statements if lines show them, in place.

    Args:
        body: the statements.
        columns: the columns of the statements.
        lines: the lines of the code object.
        depth: the nesting depth of the body.
    """
    splits = LineSplits(columns, lines)
    splits.depths[id(body)] = depth
    rules = (splits.alternatives, splits.guards, splits.guard, splits.idle_arm, splits.nested)
    for block in walk(body):
        splits.note_depth(block)
        for place in range(len(block.stmts) - 1, -1, -1):
            if isinstance(block.stmts[place], ast.If):
                rewrite(block, place, rules)


class LineSplits(Splits):
    """The forms of a test, with the lines that they predict."""

    def __init__(self, columns: Columns, lines: Lines) -> None:
        super().__init__(columns)
        self.source = lines
        self.depths: dict[int, int] = {}

    def note_depth(self, block: Block) -> None:
        """Record how deep a block is nested."""
        if block.around is not None:
            self.depths[id(block.stmts)] = self.depths[id(block.around)] + (not block.is_arm)

    def alternatives(self, block: Block, place: int) -> Iterator[Form]:
        """Predict several tests with the same exit, which computes nothing: code that computes is not merged."""
        stmt = block.stmts[place]
        if isinstance(stmt, ast.If) and not isinstance(stmt.body[0], ast.Raise):
            if isinstance(getattr(stmt.body[0], "value", None), (ast.Constant, type(None))):
                yield from super().alternatives(block, place)

    def guard(self, block: Block, place: int) -> Iterator[Form]:
        """Predict an exit before a test that is all of the body of a test."""
        stmt, end = block.stmts[place], block.end_at(place)
        if isinstance(stmt, ast.If) and not stmt.orelse and end is not None:
            below = stmt.body[0] if len(stmt.body) == 1 else None
            is_shown = isinstance(below, ast.If) and _is_turned(stmt.test) and self._has_room(stmt.test, below)
            yield Form("a test belongs to an exit", is_shown, lambda: self._put_guard(block, place, end))

    def idle_arm(self, block: Block, place: int) -> Iterator[Form]:
        """Predict `if a: pass` before an `elif`, where an exit is impossible."""
        stmt = block.stmts[place]
        if not isinstance(stmt, ast.If) or stmt.orelse or block.end_at(place) is not None:
            return
        first, *rest = self._groups(operands(stmt.test, ast.And), (0,), is_turned=True)
        below = stmt.body[0] if len(stmt.body) == 1 and not rest else None
        has_elif = isinstance(below, ast.If) and _is_turned(stmt.test) and self._has_room(stmt.test, below)

        def write() -> None:
            tests = [test for group in rest for test in group]
            stmt.orelse = stmt.body if has_elif else [self._test(tests, ast.And, stmt.body)]
            stmt.test, stmt.body = negated(joined(first)), [ast.Pass()]

        yield Form("an arm does nothing", bool(rest) or has_elif, write)

    def nested(self, block: Block, place: int) -> Iterator[Form]:
        """Predict `if a:` around `if b:`: nobody leaves out a line in a test, or breaks a test that fits on one line.

        In the library of 3.10, 47 of 56 tests on two lines that would fit on one are two statements, 59 of 207 others.
        """
        stmt = block.stmts[place]
        if not isinstance(stmt, ast.If) or stmt.orelse:
            return
        tests = values_of(stmt.test)
        gaps = [_gap(test, other) for test, other in zip(tests, tests[1:])]
        is_broken = sum(gap > 0 for gap in gaps) == 1
        is_short = is_broken and self.depths[id(block.stmts)] * UNIT + len("if :") + width(stmt.test) <= WIDTH
        for count, gap in enumerate(gaps, 1):
            is_parted = gap >= EXIT or (is_short and gap > 0)

            def write(count: int = count) -> None:
                stmt.body = [self._test(tests[count:], ast.And, stmt.body)]
                stmt.test = joined(tests[:count])

            yield Form("split a test between two statements", is_parted, write)

    def _has_room(self, test: ast.expr, below: ast.stmt) -> bool:
        assert isinstance(below, ast.If)
        return self._is_apart(test, below.test)

    def _groups(
        self, tests: list[ast.expr], shifts: tuple[int, ...], *, is_turned: bool = False
    ) -> list[list[ast.expr]]:
        groups = [tests[:1]]
        for before, test in zip(tests, tests[1:]):
            if self._is_apart(before, test) and (not is_turned or len(groups) > 1 or _is_turned(joined(groups[-1]))):
                groups.append([test])
            else:
                groups[-1].append(test)
        return groups

    def _is_apart(self, test: ast.expr, other: ast.expr) -> bool:
        """Return whether there is a line for an exit between two tests."""
        rows, others = _rows(test), _rows(other)
        return bool(rows and others) and self.source.has_room(max(rows), min(others))

    def _narrow(self, stmt: ast.If) -> None:
        stmt.lineno = min(_rows(stmt.test), default=0)
        forget_extent(stmt)

    def _leave_above(self, stmt: ast.If) -> None:
        stmt.body[0].lineno = max(_rows(stmt.test), default=0) + 1

    def _test(
        self, tests: list[ast.expr], op: type[ast.boolop], body: list[ast.stmt], orelse: list[ast.stmt] | None = None
    ) -> ast.If:
        stmt = super()._test(tests, op, body, orelse)
        stmt.lineno = min(_rows(stmt.test), default=0)
        return stmt


def _is_turned(test: ast.expr) -> bool:
    """Return whether the opposite of a test is shorter: the test of an exit is rarely negated."""
    return is_not(test) or is_fused(test)


def _gap(test: ast.expr, other: ast.expr) -> int:
    """Return how many lines below one test another begins, 0 if unknown."""
    rows, others = _rows(test), _rows(other)
    return min(others) - max(rows) if rows and others else 0


def width(test: ast.expr) -> int:
    """Return the approximate width of an expression in columns."""
    columns = 0
    for node in nodes([test]):
        times = 1
        if isinstance(node, ast.BoolOp):
            times = len(node.values) - 1
        elif isinstance(node, ast.Call):
            times = max(1, len(node.args) + len(node.keywords))
        elif isinstance(node, ast.Compare):
            times = 1 + isinstance(node.ops[0], (ast.IsNot, ast.NotIn))
        columns += PUNCTUATION.get(type(node), 0) * times
        for name in ("id", "attr", "arg"):
            columns += len(getattr(node, name, None) or "")
        columns += len(repr(node.value)) if isinstance(node, ast.Constant) else 0
    return columns


def _rows(expr: ast.expr) -> list[int]:
    return [row for node in nodes([expr]) if (row := row_of(node))]
