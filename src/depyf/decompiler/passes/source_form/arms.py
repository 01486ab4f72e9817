"""Statements that belong to a statement or follow it, where both compile to the same code.

Before: if a: return 1           After:  if a: return 1
        if b: return 2                   elif b: return 2
        return 3                         else: return 3

Statements to the right of the previous statement belong to its `else`. A test that begins five columns to the right of
its statement follows `elif`. What precedes the clauses of a `try` belongs to its body.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depyf.bytecode.constants import key
from depyf.decompiler.lift.nodes import TryStar
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.forms import (
    ELIF,
    EXITS,
    FAR,
    IF,
    LOOPS,
    NOT,
    Block,
    Form,
    Rule,
    leading_nots,
    rewrite,
    walk,
)
from depyf.decompiler.passes.source_form.loop_exits import exits_of
from depyf.decompiler.structure.polarity import negated

SIMPLE = frozenset({ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass, ast.Delete, ast.Assert})
"""Statements that fall through and have no blocks."""
Owner = ast.If | ast.Try | ast.For | ast.AsyncFor | ast.While
"""A statement with an `else`."""


def restore_arms(body: list[ast.stmt], columns: Columns) -> set[ast.stmt]:
    """Move statements to the block that their columns show, in place; return the ones that never fall through."""
    ending: set[ast.stmt] = set()
    arms = Arms(columns, ending)
    of_try = (arms.after_else, arms.taken, arms.before_finally, arms.joined_try, arms.body)
    rules: dict[type[ast.stmt], tuple[Rule, ...]] = {
        ast.If: (arms.turned, arms.after_else, arms.taken, arms.copies, arms.after_body),
        **dict.fromkeys((ast.Try, TryStar), of_try),
        **dict.fromkeys(LOOPS, (arms.taken,)),
    }
    for block in reversed(list(walk(body))):
        for place in range(len(block.stmts) - 1, -1, -1):
            kind = type(block.stmts[place])
            if kind in SIMPLE:
                continue
            for rule in rules.get(kind, ()):
                rewrite(block, place, (rule,))
            if never_falls_through(block.stmts[place], ending):
                ending.add(block.stmts[place])
    return ending


def never_falls_through(stmt: ast.stmt, ending: set[ast.stmt]) -> bool:
    """Return whether a statement never falls through; `ending` holds the nested statements that do not."""
    if isinstance(stmt, ast.If):
        return bool(stmt.orelse) and stmt.body[-1] in ending and stmt.orelse[-1] in ending
    if isinstance(stmt, ast.Try):
        if stmt.finalbody and stmt.finalbody[-1] in ending:
            return True
        last = stmt.orelse or stmt.body
        return last[-1] in ending and all(clause.body[-1] in ending for clause in stmt.handlers)
    if isinstance(stmt, LOOPS):
        forever = isinstance(stmt, ast.While) and isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
        return (forever or bool(stmt.orelse and stmt.orelse[-1] in ending)) and not exits_of(stmt, ast.Break)
    return isinstance(stmt, EXITS)  # The manager of a `with` may suppress an exception.


class Arms:
    """The blocks that a statement may belong to, with the columns that they predict.

    ending: the statements that never fall through.
    """

    def __init__(self, columns: Columns, ending: set[ast.stmt]) -> None:
        self.columns = columns
        self.ending = ending

    def _leaves(self, stmt: ast.stmt) -> bool:
        """Return whether the statements after a statement could be its `else` instead."""
        if isinstance(stmt, ast.If):
            return stmt.body[-1] in self.ending
        if isinstance(stmt, ast.Try):
            return not stmt.finalbody and all(clause.body[-1] in self.ending for clause in stmt.handlers)
        return isinstance(stmt, LOOPS) and not exits_of(stmt, ast.Break)

    def _own(self, stmt: ast.stmt) -> int | None:
        """Return the column of a statement; after `elif`, that of the statement before."""
        indent = self.columns.column(stmt)
        return indent - indent % self.columns.unit if indent is not None and isinstance(stmt, ast.If) else indent

    def turned(self, block: Block, place: int) -> Iterator[Form]:
        """Predict the arms of a test in the other order: the second one precedes the first."""
        stmt, following, starts = block.stmts[place], block.stmts[place + 1 :], self.columns.starts
        if not isinstance(stmt, ast.If) or not (stmt.orelse or following):
            return
        other = stmt.orelse
        if not other and following and stmt.body[-1] in self.ending and following[-1] in self.ending:
            other = following
        first, second = starts.get(other[0]) if other else None, starts.get(stmt.body[0])
        if first is None or second is None or first >= second:
            return

        def write() -> None:
            if not stmt.orelse:
                del block.stmts[place + 1 :]
            stmt.test, stmt.body, stmt.orelse = negated(stmt.test), other, stmt.body

        yield Form("swap the arms", True, write)

    def after_else(self, block: Block, place: int) -> Iterator[Form]:
        """Predict statements of an `else` that follow the whole statement: they are in its column."""
        stmt = block.stmts[place]
        if not isinstance(stmt, (ast.If, ast.Try)) or not stmt.orelse or not self._leaves(stmt):
            return
        indent, arm = self._own(stmt), stmt.orelse
        shown = (
            at for at, below in enumerate(arm)
            if indent is not None and self.columns.column(below) == indent and (at or not self._is_elif(below))
        )
        first = next(shown, len(arm))

        def write() -> None:
            block.stmts[place + 1 : place + 1] = arm[first:]
            del arm[first:]

        yield Form("statements of its `else` follow it", first < len(arm), write)

    def taken(self, block: Block, place: int) -> Iterator[Form]:
        """Predict statements after a statement that are its `else`: they are to the right of it."""
        stmt, columns = block.stmts[place], self.columns
        following = block.stmts[place + 1 :]
        if not following or not isinstance(stmt, Owner) or stmt.orelse or not self._leaves(stmt):
            return
        indent, below, count = columns.column(stmt), columns.below(stmt), 0
        for inside in following if indent is not None else ():
            column = columns.column(inside)
            if column is None or (column != below if below is not None else column <= (indent or 0) + 1):
                break
            count += 1
        if not count and indent is not None and isinstance(stmt, ast.If) and self._is_elif(following[0]):
            count = int(columns.column(following[0]) == indent)
        if not count:
            return

        def write() -> None:
            stmt.orelse = following[:count]
            del block.stmts[place + 1 : place + 1 + count]

        yield Form("the following statements become its `else`", True, write)

    def _is_elif(self, stmt: ast.stmt) -> bool:
        """Return whether the test of a statement is as far from its column as after `elif`.

        `if not a in b` arrives here as `if a not in b`.
        """
        if not isinstance(stmt, ast.If):
            return False
        gap = self.columns.gap(stmt) or 0
        head = stmt.test.values[0] if isinstance(stmt.test, ast.BoolOp) else stmt.test
        if gap == IF + NOT and isinstance(head, ast.Compare) and isinstance(head.ops[0], (ast.NotIn, ast.IsNot)):
            return False
        return gap >= ELIF + NOT * leading_nots(stmt.test)

    def after_body(self, block: Block, place: int) -> Iterator[Form]:
        """Predict statements of a body that follow the whole statement, because its `else` never gets there."""
        stmt = block.stmts[place]
        if not isinstance(stmt, ast.If) or not stmt.orelse or stmt.orelse[-1] not in self.ending:
            return
        indent = self._own(stmt)
        if indent is None:
            return
        first = next((at for at, below in enumerate(stmt.body) if self.columns.column(below) == indent), 0)

        def write() -> None:
            block.stmts[place + 1 : place + 1] = stmt.body[first:]
            del stmt.body[first:]

        yield Form("statements of its body follow it", first > 0, write)

    def copies(self, block: Block, place: int) -> Iterator[Form]:
        """Predict a `return` after both arms of a test: the compiler copies short ones to their ends."""
        stmt, following = block.stmts[place], block.stmts[place + 1 : place + 2]
        starts = self.columns.starts
        if not isinstance(stmt, ast.If) or not following or not isinstance(following[0], ast.Return):
            return
        way_out = following[0]
        copied = [
            arm
            for arm in (stmt.body, stmt.orelse)
            if len(arm) > 1 and way_out in starts and isinstance(arm[-1], ast.Return)
            if starts.get(arm[-1], starts[way_out]) == starts[way_out] and _is_same(arm[-1].value, way_out.value)
        ]
        if not copied:
            return

        def write() -> None:
            for arm in copied:
                del arm[-1]

        yield Form("join the copies of a return", True, write)

    def before_finally(self, block: Block, place: int) -> Iterator[Form]:
        """Predict the `return` of a constant in a `try`: its location without an operation is above the `finally`."""
        stmt, following, columns = block.stmts[place], block.stmts[place + 1 : place + 2], self.columns
        if not isinstance(stmt, ast.Try) or not following or not _returns_constant(following[0]):
            return
        if stmt.handlers or isinstance(stmt.body[-1], EXITS):
            return
        indent = columns.of_block(stmt.body)
        last, bound = columns.lines(stmt.body[-1]), columns.lines(stmt.finalbody[0])
        lines = range(last[0] + 1, bound[0]) if last and bound else ()

        def write() -> None:
            stmt.body.append(following[0])
            del block.stmts[place + 1]

        is_shown = indent is not None and any((line, indent + len("return ")) in columns.idle for line in lines)
        yield Form("a constant is returned in the `try`", is_shown, write)

    def joined_try(self, block: Block, place: int) -> Iterator[Form]:
        """Predict one `try` with clauses and `finally`: the inner body is in the column of the `finally` body."""
        stmt = block.stmts[place]
        if not isinstance(stmt, ast.Try) or stmt.handlers or len(stmt.body) > 1:
            return
        nested = stmt.body[0]
        if not isinstance(nested, ast.Try) or nested.finalbody:
            return
        indent = self.columns.of_block(nested.body)

        def write() -> None:
            nested.finalbody = stmt.finalbody
            block.stmts[place] = nested

        yield Form("two `try` are one", indent is not None and self.columns.of_block(stmt.finalbody) == indent, write)

    def body(self, block: Block, place: int) -> Iterator[Form]:
        """Predict statements of a `try` on the other side of its clauses, in the body or in the `else`."""
        stmt, columns = block.stmts[place], self.columns
        if not isinstance(stmt, ast.Try):
            return
        lines = [line for clause in stmt.handlers for line in columns.lines(clause)]
        inside = [handled for clause in stmt.handlers for handled in clause.body if not _returns_constant(handled)]
        lines += [line for handled in inside for line in columns.lines(handled)]
        above = self._leading(stmt.orelse, 0, min(lines, default=0))
        below = self._leading(stmt.body[::-1], max(lines, default=FAR), FAR)

        def move_up() -> None:
            stmt.body += stmt.orelse[:above]
            del stmt.orelse[:above]

        def move_down() -> None:
            stmt.orelse = stmt.body[-below:]
            del stmt.body[-below:]

        yield Form("statements move before the clauses", above > 0, move_up)
        yield Form("statements move after the clauses", not stmt.orelse and 0 < below < len(stmt.body), move_down)

    def _leading(self, stmts: list[ast.stmt], above: int, below: int) -> int:
        """Return how many of the first statements are between two lines."""
        count = 0
        for stmt in stmts:
            lines = self.columns.lines(stmt)
            if not lines or not above < lines[0] < below:
                break
            count += 1
        return count


def _is_same(value: ast.expr | None, other: ast.expr | None) -> bool:
    """Return whether two returned constants are the same."""
    if not isinstance(value, (ast.Constant, type(None))) or not isinstance(other, (ast.Constant, type(None))):
        return False
    return key(getattr(value, "value", None)) == key(getattr(other, "value", None))


def _returns_constant(stmt: ast.stmt) -> bool:
    """Return whether a statement returns a constant, which in a `finally` is loaded on the line of that."""
    return isinstance(stmt, ast.Return) and isinstance(stmt.value, (ast.Constant, type(None)))
