"""`else` and `elif` after a body that never falls through, where the author wrote them.

Before: if a: return 1           After:  if a: return 1
        if b: return 2                   elif b: return 2
        return 3                         else: return 3

Statements to the right of the previous statement belong to its `else`. A test that begins five columns to the right of
its statement follows `elif`.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from depyf.bytecode.constants import key
from depyf.decompiler.passes.source_form.columns import Columns, leading_nots
from depyf.decompiler.passes.source_form.tried import join_try, part_try, return_after_finally, return_before_finally
from depyf.decompiler.passes.walk import NESTS, blocks, compounds, inner
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import negated

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
ELIF = 5
"""Columns of `elif` and the space after it."""
NOT_IF = len("if not ")


def restore_arms(body: list[ast.stmt], columns: Columns) -> set[ast.stmt]:
    """Move statements to the `else` that their columns show, in place; return the ones that never fall through."""
    order = blocks(body)
    for stmt in compounds(body):
        if isinstance(stmt, ast.If) and stmt.orelse and _stands_before(stmt.orelse, stmt.body, columns):
            _turn(stmt)
    ending: set[ast.stmt] = set()
    for block in reversed(order):
        for place in range(len(block) - 1, -1, -1):
            if NESTS[type(block[place])]:
                _restore_arm(block, place, columns, ending)
            if never_falls_through(block[place], ending):
                ending.add(block[place])
    return ending


def _restore_arm(block: list[ast.stmt], place: int, columns: Columns, ending: set[ast.stmt]) -> None:
    """Move statements of a block into the statement they belong to, and following ones out of it."""
    stmt = block[place]
    if _is_guard(stmt, block, place, ending) and _stands_before(block[place + 1 :], stmt.body, columns):
        stmt.orelse = block[place + 1 :]
        del block[place + 1 :]
        _turn(stmt)
    if _has_needless_else(stmt, ending):
        behind = _behind(stmt, columns)
        block[place + 1 : place + 1] = stmt.orelse[behind:]
        del stmt.orelse[behind:]
    if place + 1 < len(block) and _takes_else(stmt, ending):
        _take(block, place, columns)
    if isinstance(stmt, ast.Try):
        return_before_finally(block, place, columns)
        return_after_finally(block, place, columns)
        block[place] = stmt = join_try(stmt, columns)
        part_try(stmt, columns)
    if isinstance(stmt, ast.If):
        _drop_copies(stmt, block[place + 1 : place + 2], columns)
        block[place + 1 : place + 1] = _taken_behind(stmt, columns, ending)


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
        return (forever or bool(stmt.orelse and stmt.orelse[-1] in ending)) and not _breaks(stmt)
    return isinstance(stmt, ENDS)  # The manager of a `with` may suppress an exception.


def _stands_before(one: list[ast.stmt], other: list[ast.stmt], columns: Columns) -> bool:
    """Return whether statements precede others in the source."""
    first, second = columns.starts.get(one[0]), columns.starts.get(other[0])
    return first is not None and second is not None and first < second


def _turn(stmt: ast.If) -> None:
    """Swap the arms of a statement."""
    step("line {}: swap the arms", stmt.lineno)
    stmt.test, stmt.body, stmt.orelse = negated(stmt.test), stmt.orelse, stmt.body


def _is_guard(stmt: ast.stmt, block: list[ast.stmt], place: int, ending: set[ast.stmt]) -> TypeGuard[ast.If]:
    """Return whether the rest of a block runs only if a test fails, and ends the block."""
    if not isinstance(stmt, ast.If) or stmt.orelse or place + 1 == len(block):
        return False
    return stmt.body[-1] in ending and block[-1] in ending


def _has_needless_else(stmt: ast.stmt, ending: set[ast.stmt]) -> TypeGuard[ast.If | ast.Try]:
    """Return whether the `else` of a statement could follow it instead."""
    if isinstance(stmt, ast.If):
        return bool(stmt.orelse) and stmt.body[-1] in ending
    if not isinstance(stmt, ast.Try) or stmt.finalbody or not stmt.orelse:
        return False
    return all(clause.body[-1] in ending for clause in stmt.handlers)


def _behind(stmt: ast.If | ast.Try, columns: Columns) -> int:
    """Return the first statement of an `else` that follows the whole statement in the source."""
    own = columns.column(stmt)
    if own is not None and isinstance(stmt, ast.If):
        own -= own % columns.unit
    for place, below in enumerate(stmt.orelse):
        if own is not None and columns.column(below) == own and (place or not _is_elif(below, columns)):
            return place
    return len(stmt.orelse)


def _taken_behind(stmt: ast.If, columns: Columns, ending: set[ast.stmt]) -> list[ast.stmt]:
    """Remove the statements that follow a statement in the source from its body, if its `else` never gets there."""
    own = columns.column(stmt)
    if own is None or not stmt.orelse or stmt.orelse[-1] not in ending:
        return []
    own -= own % columns.unit
    first = next((place for place, below in enumerate(stmt.body) if columns.column(below) == own), 0)
    taken = stmt.body[first:] if first else []
    del stmt.body[len(stmt.body) - len(taken) :]
    return taken


def _drop_copies(stmt: ast.If, following: list[ast.stmt], columns: Columns) -> None:
    """Drop from the ends of both arms the `return` that follows them: the compiler copies short ones."""
    if not following or not isinstance(following[0], ast.Return) or following[0] not in columns.starts:
        return
    start, value = columns.starts[following[0]], following[0].value
    for arm in (stmt.body, stmt.orelse):
        last = arm[-1] if len(arm) > 1 else None
        if isinstance(last, ast.Return) and columns.starts.get(last, start) == start and _is_same(last.value, value):
            step("line {}: join two returns", start[0])
            del arm[-1]


def _is_same(one: ast.expr | None, other: ast.expr | None) -> bool:
    """Return whether two returned constants are the same."""
    return all(each is None or isinstance(each, ast.Constant) for each in (one, other)) and (
        key(getattr(one, "value", None)) == key(getattr(other, "value", None))
    )


def _is_elif(stmt: ast.stmt, columns: Columns) -> bool:
    """Return whether the test of a statement is as far from its column as after `elif`.

    `if not a in b` arrives here as `if a not in b`.
    """
    if not isinstance(stmt, ast.If):
        return False
    gap = columns.gap(stmt) or 0
    head = stmt.test.values[0] if isinstance(stmt.test, ast.BoolOp) else stmt.test
    if gap == NOT_IF and isinstance(head, ast.Compare) and isinstance(head.ops[0], (ast.NotIn, ast.IsNot)):
        return False
    return gap >= ELIF + 4 * leading_nots(stmt.test)


def _takes_else(stmt: ast.stmt, ending: set[ast.stmt]) -> bool:
    """Return whether the statements after a statement could be its `else` instead."""
    if isinstance(stmt, ast.If):
        return not stmt.orelse and stmt.body[-1] in ending
    if isinstance(stmt, ast.Try):
        clauses = stmt.handlers
        return not stmt.orelse and not stmt.finalbody and all(clause.body[-1] in ending for clause in clauses)
    return isinstance(stmt, LOOPS) and not stmt.orelse and not _breaks(stmt)


def _breaks(loop: ast.stmt) -> bool:
    """Return whether a loop is left by `break`."""
    work = [below for below, _, _ in inner(loop)]
    while work:
        for stmt in work.pop():
            if isinstance(stmt, ast.Break):
                return True
            below = inner(stmt)
            work += [stmts for stmts, _, name in below if not isinstance(stmt, LOOPS) or name == "orelse"]
    return False


def _take(block: list[ast.stmt], place: int, columns: Columns) -> None:
    """Move the statements after a statement into its `else`."""
    stmt = block[place]
    own, end = columns.column(stmt), place + 1
    if own is None:
        return
    below = columns.below(stmt)
    while end < len(block) and (column := columns.column(block[end])) is not None:
        if column != below if below is not None else column <= own + 1:
            break
        end += 1
    following = block[place + 1]
    if end == place + 1 and isinstance(stmt, ast.If) and _is_elif(following, columns):
        if columns.column(following) == own:
            end += 1
    if end > place + 1:
        assert isinstance(stmt, (ast.If, ast.Try, *LOOPS))
        step("line {}: the following statements become its `else`", stmt.lineno)
        stmt.orelse = block[place + 1 : end]
        del block[place + 1 : end]

