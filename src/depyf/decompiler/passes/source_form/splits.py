"""Tests of several statements, which the compiler merges to one longer test.

For `if a and b: c` the source may have had one of these forms. In each, the second test begins in another column
(counted from that of the first keyword), and some have a line between the two tests:

    form           source                                      second test begins at     line between
    nested         if a:⏎    if b: c                           a step + `if `            no
    guard          if not a: return⏎if b: c                    `if `                     yes
    idle arm       if not a: pass⏎elif b: c                    `elif `                   yes
    body of loop   while a:⏎    if not b: break⏎    c          a step + `if `            yes

For `if a or b: return` it may have been two statements with one exit each, or an `elif`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from depyf.decompiler.passes.source_form.columns import Columns, start_of
from depyf.decompiler.passes.source_form.forms import (
    AND,
    ELIF,
    EXITS,
    IF,
    NOT,
    Block,
    Form,
    Rule,
    joined,
    leading_nots,
    operands,
    rewrite,
    values_of,
    walk,
)
from depyf.decompiler.passes.walk import inner
from depyf.decompiler.structure.polarity import is_fused, is_not, negated

MOST_BRACKETS = 2


def split_tests(body: list[ast.stmt], columns: Columns) -> None:
    """Split tests into those of several statements where columns show them, in place."""
    splits = Splits(columns)
    phases: tuple[dict[type[ast.stmt], tuple[Rule, ...]], ...] = (
        {ast.If: (splits.debug, splits.idle_arm, splits.failing_arm, splits.nested), ast.While: (splits.loop,)},
        {ast.If: (splits.alternatives, splits.guards, splits.guard, splits.followed)},
    )
    for rules in phases:
        for block in walk(body):
            for place in range(len(block.stmts) - 1, -1, -1):
                of_kind = rules.get(type(block.stmts[place]))
                if of_kind is not None:
                    rewrite(block, place, of_kind)


class Splits:
    """The forms of a test, with the columns that they predict."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.exit_lines = {exit_.line for exit_ in columns.written}

    def debug(self, block: Block, place: int) -> Iterator[Form]:
        """Predict `if __debug__ and a`, of which only the room before `a` remains."""
        stmt, start = block.stmts[place], self.columns.starts.get(block.stmts[place])
        if not isinstance(stmt, ast.If) or start is None:
            return
        room = len("__debug__ and ") + NOT * leading_nots(stmt.test)
        if self.columns.gap(stmt) != IF + room:
            return

        def write() -> None:
            stmt.test = joined([ast.Name(id="__debug__", ctx=ast.Load()), *values_of(stmt.test)])
            self.columns.starts[stmt] = start[0], start[1] - room

        yield Form("write `__debug__` before a test", True, write)

    def idle_arm(self, block: Block, place: int) -> Iterator[Form]:
        """Predict `if a: pass` before an `elif` or `else`, of which `if not a` remains without room for the `not`."""
        stmt = block.stmts[place]
        if not isinstance(stmt, ast.If) or stmt.orelse:
            return
        test, *rest = values_of(stmt.test)
        opposite = test.operand if is_not(test) else negated(test) if is_fused(test) else None
        head = None if opposite is None else self.columns.head(opposite)
        if opposite is None or head is None:
            return
        indent: int | None = head[1] - IF
        if block.is_arm and block.owner is not None:
            indent = self.columns.column(block.owner)
            if indent is None or head[1] != indent + ELIF:
                return
        assert indent is not None
        arm = self._arm(stmt, rest, indent, takes_room=is_not(test))

        def write() -> None:
            stmt.test, stmt.body, stmt.orelse = opposite, [ast.Pass()], arm or stmt.body
            self.columns.known[stmt] = indent

        yield Form("an arm does nothing", arm is not None, write)

    def _arm(self, stmt: ast.If, rest: list[ast.expr], indent: int, *, takes_room: bool) -> list[ast.stmt] | None:
        """Return the `elif` or `else` of an empty arm, None if columns show none; its keyword begins at `indent`."""
        columns, first = self.columns, stmt.body[0]
        if rest:
            head = columns.head(rest[0])
            is_elif = takes_room and head is not None and head[1] == indent + ELIF
            return [self._test(rest, ast.And, stmt.body)] if is_elif else None
        start = columns.starts.get(first)
        if len(stmt.body) == 1 and isinstance(first, ast.If) and start is not None:
            if start[1] == indent + ELIF + NOT * leading_nots(first.test):
                return stmt.body
        return stmt.body if takes_room and columns.of_block(stmt.body) == indent + columns.unit else None

    def failing_arm(self, block: Block, place: int) -> Iterator[Form]:
        """Predict `elif b: d` with `else: assert False, c`, of which `assert b, c` before `d` remains in an `else`."""
        stmt = block.stmts[place]
        if not isinstance(stmt, ast.If) or len(stmt.orelse) < 2 or not isinstance(stmt.orelse[0], ast.Assert):
            return
        asserted, *rest = stmt.orelse
        assert isinstance(asserted, ast.Assert)
        head, below = self.columns.head(asserted.test), self.columns.column(rest[0])

        def write() -> None:
            failing = ast.Assert(test=ast.Constant(value=False), msg=asserted.msg, lineno=0)
            self.columns.starts.pop(asserted, None)
            stmt.orelse = [self._test([asserted.test], ast.And, rest, [failing])]

        is_shown = head is not None and below is not None and head[1] == below - self.columns.unit + ELIF
        yield Form("a test belongs to an `elif`, and the `else` fails", is_shown, write)

    def nested(self, block: Block, place: int) -> Iterator[Form]:
        """Predict `if a:` around `if b:`: each test is on its own line, a step to the right of the one before."""
        stmt, columns = block.stmts[place], self.columns
        start = columns.starts.get(stmt)
        if not isinstance(stmt, ast.If) or stmt.orelse or start is None:
            return
        tests = values_of(stmt.test)
        if len(tests) == 1:
            return
        indent = start[1] - IF - NOT * leading_nots(tests[0])
        if indent < 0:
            return  # `not` is not written: the opposite of the first test belongs to an exit.
        below = columns.of_block(stmt.body)
        for count in range(1, len(tests)):
            head = columns.head(tests[count])
            if head is None or head[0] <= start[0]:
                continue
            is_shown = _is_nested(head[1] - IF - indent, None if below is None else below - indent, columns.unit)

            def write(count: int = count) -> None:
                stmt.body = [self._test(tests[count:], ast.And, stmt.body)]
                stmt.test = joined(tests[:count])

            yield Form("split a test between two statements", is_shown, write)

    def loop(self, block: Block, place: int) -> Iterator[Form]:
        """Predict `while a:` around `if not b: break`, or around `if b:` with the whole body and `else: break`."""
        stmt, columns = block.stmts[place], self.columns
        if not isinstance(stmt, ast.While) or isinstance(stmt.test, ast.Constant):
            return
        tests, column = operands(stmt.test, ast.And), columns.of_loop(stmt)
        starts = [start_of(test) for test in tests]
        for count in range(1, len(tests)):
            before, start, rest = starts[count - 1], starts[count], joined(tests[count:])
            if column is None or before is None or start is None or start[0] <= before[0]:
                continue
            if start[1] == before[1] + AND:
                continue
            is_inside = columns.of_block(stmt.body) == column + columns.unit
            test = rest if is_inside else negated(rest)
            is_shown = start[1] == column + IF + NOT * leading_nots(test)

            def write(count: int = count, test: ast.expr = test, is_inside: bool = is_inside) -> None:
                """Rewrite the loop with only the first tests in its head.

                Args:
                    count: the number of tests that stay in the head.
                    test: the test of the new statement in the body.
                    is_inside: whether the body becomes the arm of that statement; otherwise the statement breaks before
                        the body.
                """
                leaving: list[ast.stmt] = [ast.Break()]
                kept = [] if is_inside or isinstance(stmt.body[0], ast.Pass) else stmt.body
                arms = (stmt.body, leaving) if is_inside else (leaving, [])
                stmt.body = [self._test([test], ast.And, *arms), *kept]
                stmt.test = joined(tests[:count])

            has_room = is_inside or self._has_room(rest, stmt.body[0])
            yield Form("a test of a loop belongs to a statement in it", is_shown and has_room, write)

    def _has_room(self, test: ast.expr, below: ast.stmt) -> bool:
        """Return whether there is a line for an exit between a test and a statement; `pass` shows no line."""
        return isinstance(below, ast.Pass) or any(
            line > self.columns.last_line(test) + 1 for line in self.columns.lines(below)
        )

    def alternatives(self, block: Block, place: int) -> Iterator[Form]:
        """Predict several tests with the same exit: the next one is an `elif`, or begins in the column of the first."""
        stmt = block.stmts[place]
        if not isinstance(stmt, ast.If) or len(stmt.body) != 1 or not isinstance(stmt.body[0], EXITS):
            return
        groups = self._groups(operands(stmt.test, ast.Or), (0, ELIF - IF))
        if len(groups) == 1:
            return

        def write() -> None:
            is_elif, rest = self._is_elif(block), stmt.orelse
            keywords = [self.columns.head(group[0]) for group in groups]
            last, stmts, at = stmt, block.stmts, place
            stmt.test, stmt.orelse = joined(groups[0], ast.Or), []
            for group, above, indent in zip(groups[1:], keywords, keywords[1:]):
                following = self._test(group, ast.Or, copy.deepcopy(stmt.body))
                if is_elif or (above is not None and indent is not None and above[1] != indent[1]):
                    last.orelse = stmts = [following]
                    at = 0
                else:
                    at += 1
                    stmts.insert(at, following)
                self._leave_above(last)
                last = following
            last.orelse = rest
            self._narrow(stmt)

        yield Form(f"split a test between {len(groups)} statements", True, write)

    def _is_elif(self, block: Block) -> bool:
        """Return whether a block is an `elif`, as its first test shows."""
        first, owner = block.stmts[0], block.owner
        if not block.is_arm or not isinstance(owner, ast.If) or not isinstance(first, ast.If):
            return False
        indent, other = self.columns.head(owner.test), self.columns.head(first.test)
        return indent is not None and other is not None and other[1] - indent[1] in (0, ELIF - IF)

    def guards(self, block: Block, place: int) -> Iterator[Form]:
        """Predict tests that leave the block if they fail, before the last one: all begin in one column."""
        stmt, end = block.stmts[place], block.end_at(place)
        if not isinstance(stmt, ast.If) or stmt.orelse or end is None:
            return
        groups = self._groups(operands(stmt.test, ast.And), (0,), is_turned=True)
        if len(groups) == 1:
            return

        def write() -> None:
            leaving = [self._test([negated(joined(group))], ast.And, [copy.copy(end)]) for group in groups[:-1]]
            stmt.test, start = joined(groups[-1]), start_of(groups[-1][0])
            if start is not None:
                stmt.lineno, self.columns.starts[stmt] = start[0], start
            self._narrow(stmt)
            for guard in leaving:
                self._leave_above(guard)
            block.stmts[place:place] = leaving

        yield Form(f"split a test between {len(groups)} statements", True, write)

    def guard(self, block: Block, place: int) -> Iterator[Form]:
        """Predict an exit before the body of a test, which is in the test's own column."""
        stmt, end, columns = block.stmts[place], block.end_at(place), self.columns
        start = columns.starts.get(stmt)
        if not isinstance(stmt, ast.If) or stmt.orelse or end is None or start is None:
            return
        above = (column for sibling in block.stmts[:place][::-1] if (column := columns.column(sibling)) is not None)
        indent = next(above, None)
        if indent is None and block.owner is not None:
            indent = columns.of_loop(block.owner)
        if indent is None or columns.of_block(stmt.body) != indent:
            return
        is_shown = start[1] == indent + IF + NOT * leading_nots(negated(stmt.test))
        yield Form("a test belongs to an exit", is_shown, lambda: self._put_guard(block, place, end))

    def _put_guard(self, block: Block, place: int, end: ast.stmt) -> None:
        """Move the body of a test behind an exit with the opposite test."""
        stmt = block.stmts[place]
        assert isinstance(stmt, ast.If)
        block.stmts[place + 1 :] = stmt.body
        stmt.test, stmt.body = negated(stmt.test), [copy.copy(end)]
        self._leave_above(stmt)

    def followed(self, block: Block, place: int) -> Iterator[Form]:
        """Predict statements after a test, which the code has in one arm because the other arm leaves the block."""
        stmt, end, columns = block.stmts[place], block.end_at(place), self.columns
        if not isinstance(stmt, ast.If) or end is None:
            return
        below, start = columns.below(stmt), columns.starts.get(stmt)
        if start is None or below is None or start[1] != below - columns.unit + IF + NOT * leading_nots(stmt.test):
            return
        indent = below - columns.unit
        first = next((at for at, inside in enumerate(stmt.body) if columns.column(inside) == indent), 0)
        arm, other = (stmt.body, stmt.orelse) if first else (stmt.orelse, stmt.body)
        is_below_test = bool(first) or (isinstance(end, ast.Return) and self._stands_below(arm, indent))
        is_below = all((columns.column(inside) or indent) >= indent for inside in arm[first:])

        def write() -> None:
            other.append(copy.copy(end))
            block.stmts.extend(arm[first:])
            del arm[first:]

        yield Form("statements move after the test", is_below_test and is_below and _comes_to_end(other), write)

    def _stands_below(self, arm: list[ast.stmt], indent: int) -> bool:
        """Return whether an arm is in the column of its test, and is not an `elif`."""
        if not arm or self.columns.column(arm[0]) != indent:
            return False
        first, start = arm[0], self.columns.starts.get(arm[0])
        if not isinstance(first, ast.If):
            return True
        return start is not None and start[1] == indent + IF + NOT * leading_nots(first.test)

    def _groups(
        self, tests: list[ast.expr], shifts: tuple[int, ...], *, is_turned: bool = False
    ) -> list[list[ast.expr]]:
        """Return tests, grouped by statement.

        Args:
            shifts: by how many columns the next statement's keyword may be longer.
            is_turned: all statements but the last test the opposite.
        """
        columns, groups = self.columns, [tests[:1]]
        for before, test in zip(tests, tests[1:]):
            head = columns.head(groups[-1][0], is_turned)
            indent = columns.head(test, is_turned and test is not tests[-1])
            end = columns.last_line(before)
            # `if a: return` on one line leaves no line for anything else before the next test.
            room = 1 if end in self.exit_lines and not is_turned else 2
            if head is None or indent is None or not end or indent[1] - head[1] not in shifts or indent[0] < end + room:
                groups[-1].append(test)
            else:
                groups.append([test])
        return groups

    def _leave_above(self, stmt: ast.If) -> None:
        """Put the new exit of a test on the line below the test."""
        stmt.body[0].lineno = self.columns.last_line(stmt.test) + 1

    def _narrow(self, stmt: ast.If) -> None:
        """Record that a statement has only a part of its test left."""

    def _test(
        self, tests: list[ast.expr], op: type[ast.boolop], body: list[ast.stmt], orelse: list[ast.stmt] | None = None
    ) -> ast.If:
        """Return a new statement that tests several conditions, with its position."""
        start = start_of(tests[0])
        stmt = ast.If(test=joined(tests, op), body=body, orelse=orelse or [], lineno=0)
        if start is not None:
            stmt.lineno, self.columns.starts[stmt] = start[0], start
        return stmt


def _is_nested(begin: int, below: int | None, unit: int) -> bool:
    """Return whether a head and a body this far right of the first head belong to nested statements.

    A parenthesis or `elif` moves the first head to the right, a parenthesis moves the second.
    """
    if below is None:
        return begin in (unit, unit + IF - ELIF)
    moved = -below % unit
    return below + moved >= 2 * unit and 0 <= begin - (unit - moved) <= MOST_BRACKETS


def _comes_to_end(arm: list[ast.stmt]) -> bool:
    """Return whether an arm reaches its end from a known place."""
    return not arm or not (isinstance(arm[-1], EXITS) or inner(arm[-1]))
