"""Decide which statements belong to the body of a `try`, and which to its `else`, if both are equivalent.

Before: try: f()                After:  try:
        except E: return False              f()
        else: return True                   return True
                                        except E: return False

A statement that cannot raise is equivalent in both. If it precedes the clauses in the source, it belongs to the body.

Before: try:                    After:  try: f()
            try: f()                    except E: g()
            except E: g()               finally: h()
        finally: h()

If the inner body is in the column of the `finally` body, the two are one statement.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.steps import step

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
FAR = 1 << 40


def join_try(stmt: ast.Try, columns: Columns) -> ast.Try:
    """Join a `try` with the `try` in its body if the inner body is in the column of the `finally` body."""
    inner = stmt.body[0]
    if stmt.handlers or len(stmt.body) > 1 or not isinstance(inner, ast.Try) or inner.finalbody:
        return stmt
    own = columns.of_block(inner.body)
    if own is None or columns.of_block(stmt.finalbody) != own:
        return stmt
    step("two `try` are one, with `finally`")
    inner.finalbody = stmt.finalbody
    return inner


def return_before_finally(block: list[ast.stmt], place: int, columns: Columns) -> None:
    """Move the return of a constant before a `finally` if it precedes the `finally` in the source."""
    stmt, following = block[place], block[place + 1 : place + 2]
    assert isinstance(stmt, ast.Try)
    value = following[0].value if following and isinstance(following[0], ast.Return) else None
    if stmt.handlers or isinstance(stmt.body[-1], ENDS) or not isinstance(value, ast.Constant):
        return
    own, bound, last = columns.of_block(stmt.body), columns.lines(stmt.finalbody[0]), columns.lines(stmt.body[-1])
    if own is None or not bound or not last:
        return
    if any((line, own + len("return ")) in columns.idle for line in range(last[0] + 1, bound[0])):
        step("line {}: a constant is returned in the `try`", last[0])
        stmt.body.append(following[0])
        del block[place + 1]


def return_after_finally(block: list[ast.stmt], place: int, columns: Columns) -> None:
    """Move the return of a constant in a `try` behind its `finally` if it follows the `finally` in the source."""
    stmt = block[place]
    assert isinstance(stmt, ast.Try)
    if stmt.handlers or len(stmt.body) < 2 or block[place + 1 :]:
        return
    own, last = columns.lines(stmt.body[-1]), columns.lines(stmt.finalbody[-1])
    if _returns_constant(stmt.body[-1]) and own and last and own[0] > last[0]:
        step("line {}: a constant is returned after the `finally`", own[0])
        block.append(stmt.body.pop())


def part_try(stmt: ast.Try, columns: Columns) -> None:
    """Move statements between the body and the `else` of a statement as their lines show, in place."""
    lines = [line for clause in stmt.handlers for line in columns.lines(clause)]
    inside = [each for clause in stmt.handlers for each in clause.body if not _returns_constant(each)]
    lines += [line for each in inside for line in columns.lines(each)]
    if not lines:
        return
    first, last = min(lines), max(lines)
    count = _leading(stmt.orelse, columns, 0, first)
    if count:
        step("line {}: statements move before the clauses", first)
        stmt.body += stmt.orelse[:count]
        del stmt.orelse[:count]
    elif not stmt.orelse:
        count = _leading(stmt.body[::-1], columns, last, FAR)
        if 0 < count < len(stmt.body):
            step("line {}: statements move after the clauses", last)
            stmt.orelse = stmt.body[-count:]
            del stmt.body[-count:]


def _returns_constant(stmt: ast.stmt) -> bool:
    """Return whether a statement returns a constant, which in a `finally` is loaded on the line of that."""
    return isinstance(stmt, ast.Return) and (stmt.value is None or isinstance(stmt.value, ast.Constant))


def _leading(stmts: list[ast.stmt], columns: Columns, above: int, below: int) -> int:
    """Return how many of the first statements are between two lines."""
    count = 0
    for stmt in stmts:
        lines = columns.lines(stmt)
        if not lines or not above < lines[0] < below:
            break
        count += 1
    return count
