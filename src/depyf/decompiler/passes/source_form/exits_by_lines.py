"""Exits that the compiler copied or moved, put where their lines show them, for code with lines only.

Before: 1: try:                  After:  1: try:
        2:     a                         2:     a
        5:     break                     3: except E:
        3: except E:                     4:     b
        4:     b                         5: else: break

An exit below the clauses of a `try` is its `else`, or follows it if there is no line for `else:`. Of several copies of
an exit only one has its line; if that is below all arms of a statement, the exit follows the statement.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.extent import row_of
from depyf.decompiler.passes.source_form.line_evidence import Lines
from depyf.decompiler.passes.walk import inner, nodes
from depyf.decompiler.steps import step

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
LEAVING = (ast.Return, ast.Continue, ast.Break)
ELSE = 2
"""The number of lines from the end of the clauses to the first statement of an `else`."""


def restore_exits_by_lines(body: list[ast.stmt], lines: Lines) -> None:
    """Move exits to where their lines show them, in place."""
    order = [body]
    for block in order:  # The list grows during the iteration.
        order += [below for stmt in block for below, _, _ in inner(stmt)]
    for block in reversed(order):
        for place in range(len(block) - 1, -1, -1):
            stmt = block[place]
            if isinstance(stmt, ast.If):
                _join_copies(block, place, lines)
            elif isinstance(stmt, ast.Try) and stmt.finalbody:
                _return_before_finally(block, place, lines)
            elif isinstance(stmt, ast.Try) and not stmt.orelse:
                _leave_behind_clauses(block, place, lines)


def _leave_behind_clauses(block: list[ast.stmt], place: int, lines: Lines) -> None:
    """Move the exit at the end of a `try` body below the clauses, if it has a line there."""
    stmt = block[place]
    assert isinstance(stmt, ast.Try)
    way_out = stmt.body[-1]
    if len(stmt.body) < 2 or not isinstance(way_out, (ast.Break, ast.Return)) or not _is_plain(way_out):
        return
    last = _last_of_clauses(stmt, lines)
    line = lines.first(way_out) or _line_below(stmt, last, lines)
    if not last or line <= last:
        return
    leave = all(isinstance(clause.body[-1], ENDS) for clause in stmt.handlers)
    if line - last < ELSE and not leave:
        return
    step("line {}: an exit moves below the clauses", line)
    way_out.lineno = line
    del stmt.body[-1]
    if line - last < ELSE:
        block.insert(place + 1, way_out)
    else:
        stmt.orelse = [way_out]


def _last_of_clauses(stmt: ast.Try, lines: Lines) -> int:
    """Return the last known line of the clauses of a `try`; that of a `pass` is not known."""
    tests = [ast.Expr(value=clause.type) for clause in stmt.handlers if clause.type is not None]
    rows = [row_of(node) for node in nodes(tests)]
    return max([lines.last(clause.body) for clause in stmt.handlers] + rows, default=0)


def _line_below(stmt: ast.Try, last: int, lines: Lines) -> int:
    """Return the line of the exit of a `try` body below its clauses, if there is a line for it there and only there."""
    if lines.idle_below(lines.last(stmt.body[:-1])):
        return 0
    found = [last]
    while line := lines.idle_below(found[-1]):
        found.append(line)
    passes = sum(isinstance(clause.body[0], ast.Pass) for clause in stmt.handlers)
    return found[-1] if len(found) > 1 + passes else 0


def _return_before_finally(block: list[ast.stmt], place: int, lines: Lines) -> None:
    """Move a `return` after a `finally` into the body before it, if it has a line of the `finally`."""
    stmt, rest = block[place], block[place + 1 :]
    assert isinstance(stmt, ast.Try)
    inside = stmt.body
    if len(rest) != 1 or not isinstance(rest[0], ast.Return) or rest[0].value is None or not _is_plain(rest[0]):
        return
    if isinstance(inside[-1], ENDS) or inner(inside[-1]) or stmt.handlers:
        return
    if not 0 < lines.first(rest[0]) <= lines.last(stmt.finalbody):
        return
    step("line {}: a return moves before the `finally`", lines.first(rest[0]))
    inside.append(block.pop())


def _join_copies(block: list[ast.stmt], place: int, lines: Lines) -> None:
    """Put an exit that is copied to the ends of arms behind the statement, if its line is below all of them."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    ends = [arm for arm in _ends(stmt) if isinstance(arm[-1], LEAVING)]
    following = block[place + 1 : place + 2]
    way_out = next((each for each in [*following, *(arm[-1] for arm in reversed(ends))] if lines.first(each)), None)
    if not isinstance(way_out, LEAVING) or not _is_plain(way_out):
        return
    copies = [arm for arm in ends if _is_copy(arm[-1], way_out, lines)]
    is_behind = way_out in following
    if len(copies) + is_behind < 2 or not (is_behind or (not following and _leave(stmt))):
        return
    rest = [stmt, *(each for arm in _arms(stmt) for each in arm if not any(each is end[-1] for end in copies))]
    if any(len(arm) == 1 for arm in copies) or max(map(lines.head, rest)) >= lines.first(way_out):
        return
    step("line {}: join the copies of an exit", lines.first(way_out))
    for arm in copies:
        del arm[-1]
    if not is_behind:
        block.append(way_out)


def _arms(stmt: ast.If) -> list[list[ast.stmt]]:
    """Return the blocks within a statement, at all depths."""
    found = [below for below, _, _ in inner(stmt)]
    for block in found:  # The list grows during the iteration.
        found += [below for each in block for below, _, _ in inner(each)]
    return found


def _ends(stmt: ast.If) -> list[list[ast.stmt]]:
    """Return the blocks whose ends lead to the end of a statement."""
    found: list[list[ast.stmt]] = []
    work: list[list[ast.stmt]] = [stmt.body, stmt.orelse]
    for block in work:  # The list grows during the iteration.
        last = block[-1] if block else None
        if isinstance(last, ast.If):
            work += [last.body, last.orelse]
        elif last is not None:
            found.append(block)
    return found


def _leave(stmt: ast.If) -> bool:
    """Return whether each end of a statement is an exit."""
    has_ends = all(arm for each in _tests(stmt) for arm in (each.body, each.orelse))
    return has_ends and all(isinstance(block[-1], ENDS) for block in _ends(stmt))


def _tests(stmt: ast.If) -> list[ast.If]:
    """Return a statement and those at the ends of its arms."""
    found = [stmt]
    for one in found:  # The list grows during the iteration.
        lasts = [arm[-1] for arm in (one.body, one.orelse) if arm]
        found += [last for last in lasts if isinstance(last, ast.If)]
    return found


def _is_copy(stmt: ast.stmt, other: ast.stmt, lines: Lines) -> bool:
    """Return whether an exit is the same as another one, and has its line or none."""
    return ast.dump(stmt) == ast.dump(other) and lines.first(stmt) in (0, lines.first(other))


def _is_plain(stmt: ast.stmt) -> bool:
    """Return whether an exit computes nothing."""
    value = getattr(stmt, "value", None)
    return value is None or isinstance(value, ast.Constant)
