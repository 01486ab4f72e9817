"""Place the statements at the exit of a loop inside the loop or after it.

Before: while True:               After:  while True:
            if a: break                       if a: return b
        return b

Statements to the right of the loop belong to it, and a `return` in the column of the loop follows it.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.walk import compound, inner
from depyf.decompiler.steps import step

LOOPS = (ast.For, ast.AsyncFor, ast.While)
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
PROTECTING = (ast.Try, ast.With, ast.AsyncWith)
Spot = tuple[list[ast.stmt], int]
"""A block, and a place in it."""


def restore_left_loops(body: list[ast.stmt], columns: Columns) -> None:
    """Move the statements at the exits of loops to where their columns show them, in place."""
    order = [(body, True)]
    for block, is_end in order:  # The list grows during the iteration.
        for stmt in compound(block):
            goes_on = is_end and stmt is block[-1] and not isinstance(stmt, LOOPS)
            order += [(below, goes_on) for below, _, _ in inner(stmt)]
    for block, is_end in reversed(order):
        for place in range(len(block) - 1, -1, -1):
            stmt = block[place]
            if isinstance(stmt, LOOPS):
                _move_in(block, place, columns, is_end)
                _move_out(block, place, columns)


def _move_in(block: list[ast.stmt], place: int, columns: Columns, is_end: bool) -> None:
    """Replace a loop's only `break` by the statements after the loop, if they are to the right of the loop."""
    loop = block[place]
    assert isinstance(loop, LOOPS)
    own = columns.column(loop)
    if own is None or not never_ends(loop):
        return
    breaks = found_in(loop, ast.Break)
    end = place + 1
    while end < len(block) and (column := columns.column(block[end])) is not None and column > own:
        end += 1
    if len(breaks) != 1 or end == place + 1:
        return
    spot = unprotected(loop, breaks[0])
    if spot is None:
        return
    step("line {}: the statements after the loop move into it", loop.lineno)
    moved = block[place + 1 : end]
    del block[place + 1 : end]
    inside, at = breaks[0]
    del inside[at:]
    inside, at = spot
    inside[at:] = moved if isinstance(moved[-1], (ast.Return, ast.Raise)) else [*moved, ast.Break()]
    if is_end and place + 1 == len(block) and _is_bare_return(loop.orelse):
        loop.orelse = []


def unprotected(loop: ast.For | ast.AsyncFor | ast.While, spot: Spot) -> Spot | None:
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
    return all(isinstance(clause.body[-1], ENDS) for clause in stmt.handlers)


def _move_out(block: list[ast.stmt], place: int, columns: Columns) -> None:
    """Move a `return` in the column of a loop after the loop, and put `break` in its place."""
    loop = block[place]
    assert isinstance(loop, LOOPS)
    own, following = columns.column(loop), block[place + 1 : place + 2]
    if own is None or found_in(loop, ast.Break):
        return
    returns = [spot for spot in found_in(loop, ast.Return) if columns.column(_at(spot)) == own]
    starts = {columns.starts.get(_at(spot)) for spot in returns}
    if len(starts) != 1:
        return
    is_behind = bool(following) and columns.starts.get(following[0]) in starts
    if is_behind and (loop.orelse or not isinstance(following[0], ast.Return)):
        return
    if not is_behind and (following or not never_ends(loop)):
        return
    step("line {}: leave the loop, and return after it", loop.lineno)
    if not is_behind:
        block.append(_at(returns[0]))
    for inside, at in returns:
        inside[at:] = [ast.Break()]


def _at(spot: Spot) -> ast.stmt:
    return spot[0][spot[1]]


def found_in(loop: ast.For | ast.AsyncFor | ast.While, kind: type[ast.stmt]) -> list[Spot]:
    """Return where a loop is left in one way, without inner loops and their `break`."""
    found: list[Spot] = []
    work = [loop.body]
    while work:
        block = work.pop()
        for place, stmt in enumerate(block):
            if isinstance(stmt, kind):
                found.append((block, place))
            for below, _, name in inner(stmt):
                if kind is ast.Return and isinstance(stmt, PROTECTING) and (name != "orelse" or _has_finally(stmt)):
                    continue  # After the loop its value would be computed under another handler.
                if kind is not ast.Break or not isinstance(stmt, LOOPS) or name == "orelse":
                    work.append(below)
    return found


def _has_finally(stmt: ast.stmt) -> bool:
    return bool(getattr(stmt, "finalbody", None))


def never_ends(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Return whether only `break` leads to the statement after a loop."""
    if loop.orelse:
        return isinstance(loop.orelse[-1], ENDS)
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _is_bare_return(block: list[ast.stmt]) -> bool:
    return len(block) == 1 and isinstance(block[0], ast.Return) and block[0].value is None
