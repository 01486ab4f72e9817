"""Place the statements at the exit of a loop inside the loop or after it.

Before: while True:               After:  while True:
            if a: break                       if a: return b
        return b

Statements to the right of the loop belong to it, and a `return` in the column of the loop follows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.forms import EXITS, LOOPS, Block, Form, Loop, rewrite, walk
from depyf.decompiler.passes.walk import inner

PROTECTING = (ast.Try, ast.With, ast.AsyncWith)
Spot = tuple[list[ast.stmt], int]
"""A block, and a place in it."""


def restore_left_loops(body: list[ast.stmt], columns: Columns) -> None:
    """Move the statements at the exits of loops to where their columns show them, in place."""
    exits = LoopExits(columns)
    for block in reversed(list(walk(body))):
        for place in range(len(block.stmts) - 1, -1, -1):
            if isinstance(block.stmts[place], LOOPS):
                rewrite(block, place, (exits.inside,))
                rewrite(block, place, (exits.after,))


class LoopExits:
    """The forms of what is done where a loop is left, with the columns that they predict."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    def inside(self, block: Block, place: int) -> Iterator[Form]:
        """Predict the statements after a loop in place of its only `break`: they are to the right of the loop."""
        loop, stmts = block.stmts[place], block.stmts
        indent = self.columns.column(loop)
        if not isinstance(loop, LOOPS) or indent is None or not never_ends(loop):
            return
        end = place + 1
        while end < len(stmts) and (column := self.columns.column(stmts[end])) is not None and column > indent:
            end += 1
        breaks = exits_of(loop, ast.Break)
        spot = unprotected(loop, breaks[0]) if len(breaks) == 1 and end > place + 1 else None

        def write() -> None:
            moved, (within, at) = stmts[place + 1 : end], breaks[0]
            del stmts[place + 1 : end], within[at:]
            assert spot is not None
            spot[0][spot[1] :] = moved if isinstance(moved[-1], (ast.Return, ast.Raise)) else [*moved, ast.Break()]
            if isinstance(block.end_at(place), ast.Return) and _is_bare_return(loop.orelse):
                loop.orelse = []

        yield Form("the statements after the loop move into it", spot is not None, write)

    def after(self, block: Block, place: int) -> Iterator[Form]:
        """Predict a `return` in the column of a loop after the loop, and `break` in its place."""
        loop, following = block.stmts[place], block.stmts[place + 1 : place + 2]
        indent = self.columns.column(loop)
        if not isinstance(loop, LOOPS) or indent is None or exits_of(loop, ast.Break):
            return
        returns = [spot for spot in exits_of(loop, ast.Return) if self.columns.column(_at(spot)) == indent]
        starts = {self.columns.starts.get(_at(spot)) for spot in returns}
        is_behind = bool(following) and self.columns.starts.get(following[0]) in starts
        fits = not following and never_ends(loop)
        if is_behind:
            fits = not loop.orelse and isinstance(following[0], ast.Return)

        def write() -> None:
            if not is_behind:
                block.stmts.append(_at(returns[0]))
            for within, at in returns:
                within[at:] = [ast.Break()]

        yield Form("leave the loop, and return after it", fits and len(starts) == 1, write)


def unprotected(loop: Loop, spot: Spot) -> Spot | None:
    """Return where statements may replace a `break` without getting a new handler; None if nowhere.

    Only the body of a `try` reaches the statements after it if each clause leaves; else they are its `else`.
    """
    work: list[tuple[list[ast.stmt], Spot | None, bool]] = [(loop.body, None, True)]
    while work:
        block, around, is_behind = work.pop()
        if block is spot[0]:
            if around is None:
                return spot
            if len(block) == 1:
                return None
            return (around[0], around[1] + 1) if is_behind else _as_else(around, block)
        for place, stmt in enumerate(block):
            for below, _, _ in inner(stmt):
                if not isinstance(stmt, PROTECTING):
                    work.append((below, around, False))
                    continue
                leads = around is None and stmt is block[-1] and _leads_behind(stmt, below)
                work.append((below, (block, place), leads))
    return None


def _as_else(around: Spot, block: list[ast.stmt]) -> Spot | None:
    """Return the place of the `else` of a `try`, if it has none and statements are its body."""
    stmt = _at(around)
    return (stmt.orelse, 0) if isinstance(stmt, ast.Try) and block is stmt.body and not stmt.orelse else None


def _leads_behind(stmt: ast.stmt, block: list[ast.stmt]) -> bool:
    """Return whether the statements after a `try` are reached only from the end of one of its blocks."""
    if not isinstance(stmt, ast.Try) or block is not stmt.body or stmt.orelse:
        return False
    return all(isinstance(clause.body[-1], EXITS) for clause in stmt.handlers)


def _at(spot: Spot) -> ast.stmt:
    return spot[0][spot[1]]


def exits_of(loop: Loop, kind: type[ast.stmt]) -> list[Spot]:
    """Return where a loop is left in one way, without inner loops and their `break`."""
    spots: list[Spot] = []
    work = [loop.body]
    while work:
        block = work.pop()
        for place, stmt in enumerate(block):
            if isinstance(stmt, kind):
                spots.append((block, place))
            for below, _, name in inner(stmt):
                if kind is ast.Return and isinstance(stmt, PROTECTING) and (name != "orelse" or _has_finally(stmt)):
                    continue  # After the loop its value would be computed under another handler.
                if kind is not ast.Break or not isinstance(stmt, LOOPS) or name == "orelse":
                    work.append(below)
    return spots


def _has_finally(stmt: ast.stmt) -> bool:
    return bool(getattr(stmt, "finalbody", None))


def never_ends(loop: Loop) -> bool:
    """Return whether only `break` leads to the statement after a loop."""
    if loop.orelse:
        return isinstance(loop.orelse[-1], EXITS)
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _is_bare_return(block: list[ast.stmt]) -> bool:
    return len(block) == 1 and isinstance(block[0], ast.Return) and block[0].value is None
