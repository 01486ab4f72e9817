"""`else` and `elif` after a body that never falls through, for code with lines only.

Before: 2: return 1         After:  2: return 1
        4: return 2                 3: else:
                                    4: return 2

`else:` takes a line, and so does a blank line. A single exit statement two lines below another exit is its `else`.
Several statements there follow a blank line instead. An `elif` takes only its own line.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from depyf.decompiler.passes.source_form.arms import never_falls_through
from depyf.decompiler.passes.source_form.line_evidence import Lines
from depyf.decompiler.passes.walk import inner
from depyf.decompiler.steps import step

ELSE = 2
"""The number of lines from the end of a body to the first statement of its `else`."""
FEW = 3
"""The most statements of an arm that counts as short."""
LOOPS = (ast.For, ast.AsyncFor, ast.While)
Block = tuple[list[ast.stmt], type[ast.stmt] | None]
"""Statements, and the effect of reaching their end."""


def restore_arms_by_lines(body: list[ast.stmt], lines: Lines) -> set[ast.stmt]:
    """Move statements to the `else` that lines show, in place; return the ones that never fall through."""
    order: list[Block] = [(body, ast.Return)]
    for block, end in order:  # The list grows during the iteration.
        for stmt in block:
            after = end if stmt is block[-1] else None
            for below, _, name in reversed(inner(stmt)):
                order.append((below, ast.Continue if isinstance(stmt, LOOPS) and name == "body" else after))
    ending: set[ast.stmt] = set()
    for block, _ in reversed(order):
        ending.update(stmt for stmt in block if never_falls_through(stmt, ending))
    kept = _kept(order, lines, ending)
    for block, end in reversed(order):
        for place in range(len(block) - 1, -1, -1):
            stmt = block[place]
            if isinstance(stmt, ast.If) and id(block) not in kept:
                _restore_if(block, place, lines, ending, end, is_body=block is body)
            elif isinstance(stmt, ast.Try):
                _restore_try(block, place, lines, ending, end)
            if never_falls_through(stmt, ending):
                ending.add(stmt)
    return ending


def _kept(order: list[Block], lines: Lines, ending: set[ast.stmt]) -> set[int]:
    """Return the identities of blocks that stay the content of an `elif`, because no other form is possible."""
    kept: set[int] = set()
    for block, _ in order:
        for stmt in block:
            if _has_elif(stmt, lines):
                if id(block) in kept or stmt is not block[-1] or stmt.body[-1] not in ending:
                    kept.add(id(stmt.orelse))
    return kept


def _has_elif(stmt: ast.stmt, lines: Lines) -> TypeGuard[ast.If]:
    """Return whether there is no line for an `else:` between the arms of a statement."""
    return isinstance(stmt, ast.If) and len(stmt.orelse) == 1 and _gap(stmt.body, stmt.orelse, lines) < ELSE


def _gap(block: list[ast.stmt], rest: list[ast.stmt], lines: Lines) -> int:
    """Return how many lines below the end of a block others begin, 0 if unknown."""
    first, last = lines.first(rest[0]), lines.last(block)
    return first - last if last else 0


def _gap_behind(stmt: ast.If, rest: list[ast.stmt], lines: Lines) -> int:
    """Return how many lines below the body of a test others begin; a lone `break` without a line is below its test."""
    first, head = lines.first(rest[0]), lines.head(stmt)
    is_unseen = isinstance(stmt.body[0], ast.Break) and not lines.first(stmt.body[0])
    return first - head - 1 if is_unseen and first and head else _gap(stmt.body, rest, lines)


def _restore_if(
    block: list[ast.stmt],
    place: int,
    lines: Lines,
    ending: set[ast.stmt],
    end: type[ast.stmt] | None,
    *,
    is_body: bool,
) -> None:
    """Move the statements after a test's body into its `else`, or those in its `else` after it."""
    stmt, rest = block[place], block[place + 1 :]
    assert isinstance(stmt, ast.If)
    if stmt.body[-1] not in ending and stmt.orelse:
        _part_behind(block, place, lines, ending, end)
    if stmt.body[-1] not in ending or bool(stmt.orelse) == bool(rest):
        return
    if is_body and _restore_last(block, place, lines):
        return
    other = stmt.orelse or rest
    arm = lines.arm(stmt, other)
    if arm is None:
        if _part_behind(block, place, lines, ending, end):
            return
        arm = _probable_arm(block, place, lines, ending, is_body=is_body)
    if arm != len(stmt.orelse):
        step("line {}: {} statements become its `else`", stmt.lineno, arm)
    stmt.orelse = other[:arm]
    block[place + 1 :] = other[arm:]


def _probable_arm(
    block: list[ast.stmt], place: int, lines: Lines, ending: set[ast.stmt], *, is_body: bool
) -> int:
    """Return how many of the statements after a test's exit are probably in its `else`."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    other = stmt.orelse or block[place + 1 :]
    if _is_arm(stmt, other, _stands_below_guard(block, place, lines, ending), lines, ending):
        return 0 if _is_check_below_line(block, place, other, lines) else len(other)
    if is_body:
        return 0
    if _is_short_arm(stmt, other, lines, ending):
        return len(other)
    return int(_is_alternative(stmt, other[0], lines))


def _restore_last(block: list[ast.stmt], place: int, lines: Lines) -> bool:
    """Restore the arms of a test before the return at the end of a function; return whether they are known.

    Up to 3.9 the compiler writes one more return after a compound statement, even if it is unreachable.
    """
    stmt, rest = block[place], block[place + 1 :]
    assert isinstance(stmt, ast.If)
    other = stmt.orelse or rest
    if not lines.has_skips or not isinstance(other[-1], ast.Return):
        return False
    if _gap(stmt.body, other, lines) < ELSE:
        return False
    step("line {}: whether the return at the end is in its `else`: {}", stmt.lineno, lines.has_idle_end)
    stmt.orelse, block[place + 1 :] = (other, []) if lines.has_idle_end else ([], other)
    return True


def _part_behind(
    block: list[ast.stmt], place: int, lines: Lines, ending: set[ast.stmt], end: type[ast.stmt] | None
) -> bool:
    """Move the statements that follow the `else` of a statement out of its body; return whether there are any.

    An `else` that reaches the end of the block leaves with the effect of that end.
    """
    stmt, rest = block[place], block[place + 1 :]
    assert isinstance(stmt, ast.If)
    other = stmt.orelse or rest
    leaves = other[-1] in ending
    if not leaves and (end is None or (stmt.orelse and rest)):
        return False
    if not lines.first(other[0]) > lines.first(stmt.body[0]) > 0:
        return False
    last = lines.last(other)
    tail = next((number for number, below in enumerate(stmt.body) if lines.first(below) > last), 0)
    if not tail:
        return False
    step("line {}: statements move after both arms", last)
    if end is not None and not leaves:
        other = [*other, end()]
        ending.add(other[-1])
    block[place + 1 :] = stmt.body[tail:] + (rest if stmt.orelse else [])
    del stmt.body[tail:]
    stmt.orelse = other
    return True


def _stands_below_guard(block: list[ast.stmt], place: int, lines: Lines, ending: set[ast.stmt]) -> bool:
    """Return whether a statement is directly below one that leaves, two checks only if they test the same value."""
    before, stmt = block[place - 1] if place else None, block[place]
    if not isinstance(before, ast.If) or not never_falls_through(before.body[-1], ending):
        return False
    assert isinstance(stmt, ast.If)
    if isinstance(stmt.body[0], ast.Raise) and subject(before.test) != subject(stmt.test):
        return False
    return _gap(before.body, block[place : place + 1], lines) == 1


def _is_check_below_line(block: list[ast.stmt], place: int, other: list[ast.stmt], lines: Lines) -> bool:
    """Return whether a return below a blank line precedes a single `raise`: the last check of several."""
    stmt = block[place]
    assert isinstance(stmt, ast.If)
    if not place or not isinstance(stmt.body[-1], ast.Return) or isinstance(other[0], (ast.Return, ast.If)):
        return False
    return _gap(block[place - 1 : place], [stmt], lines) >= ELSE


def _is_short_arm(stmt: ast.If, other: list[ast.stmt], lines: Lines, ending: set[ast.stmt]) -> bool:
    """Return whether two or three simple statements in an inner block, one a line, are the `else` of an exit."""
    if not 1 < len(other) <= FEW or other[-1] not in ending or any(inner(each) for each in other):
        return False
    return _gap(stmt.body, other, lines) == ELSE and lines.last(other) - lines.first(other[0]) <= len(other)


def _is_alternative(stmt: ast.If, other: ast.stmt, lines: Lines) -> bool:
    """Return whether a whole statement with several arms on the next line tests the same value."""
    if not isinstance(other, ast.If) or not other.orelse or _gap_behind(stmt, [other], lines) != 1:
        return False
    return subject(stmt.test) == subject(other.test)


def subject(test: ast.expr) -> str:
    """Return what a test is about: the left side of its first comparison, or the first argument of a function."""
    while isinstance(test, (ast.BoolOp, ast.UnaryOp)):
        test = test.values[0] if isinstance(test, ast.BoolOp) else test.operand
    if isinstance(test, ast.Compare):
        return ast.dump(test.left)
    is_function = isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and bool(test.args)
    return ast.dump(test.args[0] if is_function else test)  # type: ignore[attr-defined]


def _is_arm(stmt: ast.If, rest: list[ast.stmt], is_below: bool, lines: Lines, ending: set[ast.stmt]) -> bool:
    """Return whether statements are the `else` or `elif` of an exit, as opposed to following it."""
    gap, first = _gap_behind(stmt, rest, lines), rest[0]
    if len(rest) > 1:
        return False
    if not isinstance(first, ast.If):
        return _is_single_arm(stmt, first, gap, ending, is_below=is_below)
    if gap != 1:
        return False
    if first in ending:
        return not isinstance(stmt.body[-1], ast.Raise) or subject(stmt.test) == subject(first.test)
    if first.orelse:
        return is_below or len(stmt.body) > 1
    returns = isinstance(stmt.body[-1], ast.Return)
    return first.body[-1] in ending and returns and (is_below or len(stmt.body) > 1)


def _is_single_arm(stmt: ast.If, other: ast.stmt, gap: int, ending: set[ast.stmt], *, is_below: bool) -> bool:
    """Return whether a statement is the `else` of an exit: one that computes beside a return, or another exit.

    A `raise` may have a comment above it as well.
    """
    if isinstance(other, ast.Raise):
        return gap >= ELSE
    if gap != ELSE or _is_guard(stmt, other):
        return False
    is_check = isinstance(stmt.body[0], ast.Raise)
    is_call = isinstance(stmt.body[-1], ast.Return) and isinstance(other, ast.Expr)
    return is_below or is_call or (other in ending and not is_check and not inner(other))


def _is_guard(stmt: ast.If, other: ast.stmt) -> bool:
    """Return whether a negated test returns a constant, or precedes the return of a comparison: a check, no choice."""
    way_out = stmt.body[-1]
    is_negated = isinstance(stmt.test, ast.UnaryOp) and isinstance(stmt.test.op, ast.Not)
    if not is_negated or not isinstance(way_out, ast.Return) or not isinstance(other, ast.Return):
        return False
    return isinstance(way_out.value, ast.Constant) or isinstance(other.value, (ast.Compare, ast.BoolOp))


def _restore_try(
    block: list[ast.stmt], place: int, lines: Lines, ending: set[ast.stmt], end: type[ast.stmt] | None
) -> None:
    """Move the statements after a `try` into its `else`, if no clause continues there."""
    stmt, rest = block[place], block[place + 1 :]
    assert isinstance(stmt, ast.Try)
    if not rest or stmt.orelse or stmt.finalbody or not all(each.body[-1] in ending for each in stmt.handlers):
        return
    clauses = [each for clause in stmt.handlers for each in clause.body]
    if len(rest) == 1 and _stands_before(rest[0], lines.first(clauses[0]), lines):
        step("line {}: the exit moves before the clauses", clauses[0].lineno)
        stmt.body.append(block.pop())
        for clause in stmt.handlers:
            if _goes_to_end(clause.body[-1], end):
                clause.body = clause.body[:-1] or [ast.Pass()]
        return
    going = [clause for clause in stmt.handlers if _goes_on(clause.body, rest, lines, end)]
    if not _has_room(clauses, rest, going, lines, ending):
        return
    step("line {}: the following statements become its `else`", stmt.lineno)
    stmt.orelse = rest
    del block[place + 1 :]
    for clause in going:
        clause.body = clause.body[:-1] or [ast.Pass()]


def _stands_before(stmt: ast.stmt, line: int, lines: Lines) -> bool:
    """Return whether a statement that cannot raise precedes a line: it is equivalent inside a `try`.

    A `break` without a known line probably does.
    """
    if isinstance(stmt, ast.Break):
        return lines.first(stmt) < line
    if not isinstance(stmt, ast.Return) or not (stmt.value is None or isinstance(stmt.value, ast.Constant)):
        return False
    return 0 < lines.first(stmt) < line


def _has_room(
    clauses: list[ast.stmt],
    rest: list[ast.stmt],
    going: list[ast.ExceptHandler],
    lines: Lines,
    ending: set[ast.stmt],
) -> bool:
    """Return whether statements after clauses are more probably an `else`, if lines leave room for one."""
    gap = _gap(clauses, rest, lines)
    if gap < ELSE:
        return False
    if not going:
        is_end = isinstance(clauses[-1], ast.Return) and rest[0] in ending
        return gap == ELSE and len(rest) == 1 and (is_end or isinstance(rest[0], ast.Assign))
    is_single = len(going[-1].body) == 1
    if is_single and (len(rest) >= FEW or (len(rest) > 1 and clauses[-1] is not going[-1].body[-1])):
        return False
    return gap == ELSE or any(len(clause.body) > 1 for clause in going)


def _goes_on(body: list[ast.stmt], rest: list[ast.stmt], lines: Lines, end: type[ast.stmt] | None) -> bool:
    """Return whether a clause falls through to the end: its exit has no line of its own.

    A clause without other statements may contain `pass`.
    """
    if not _goes_to_end(body[-1], end):
        return False
    return len(body) == 1 or not lines.leaves_between(lines.last(body[:-1]), lines.first(rest[0]))


def _goes_to_end(stmt: ast.stmt, end: type[ast.stmt] | None) -> bool:
    """Return whether a statement has the effect of reaching the end of its block."""
    return end is not None and isinstance(stmt, end) and getattr(stmt, "value", None) is None
