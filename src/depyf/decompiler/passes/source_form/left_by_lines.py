"""Place the statements at the exit of a loop inside the loop or after it, for code with lines only.

Before: 1: while True:          After:  1: while True:
        2:     if a: return b           2:     if a: break
        4:     c                        4:     c
        5:                              5: return b

A `return` below all other lines of the loop follows it. If it is directly below a test, there is no `break` between.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.left import Spot, found_in, never_ends, unprotected
from depyf.decompiler.passes.source_form.line_evidence import Lines
from depyf.decompiler.passes.walk import inner, statements
from depyf.decompiler.steps import step

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def restore_left_by_lines(body: list[ast.stmt], lines: Lines) -> None:
    """Move the `return` at the exits of loops to where its line shows it, in place."""
    order = [body]
    for block in order:  # The list grows during the iteration.
        order += [below for stmt in block for below, _, _ in inner(stmt)]
    for block in reversed(order):
        for place, stmt in enumerate(block):
            if isinstance(stmt, ast.While) and not stmt.orelse and never_ends(stmt) and len(block) - place <= 2:
                if place + 2 == len(block):
                    _move_in(block, stmt, lines)
                else:
                    _move_out(block, stmt, lines)


def _move_in(block: list[ast.stmt], loop: ast.While, lines: Lines) -> None:
    """Replace a loop's only `break` by the `return` after the loop, if that is directly below the `break`'s test."""
    way_out, breaks = block[-1], found_in(loop, ast.Break)
    if not isinstance(way_out, ast.Return) or len(breaks) != 1 or unprotected(loop, breaks[0]) != breaks[0]:
        return
    inside, at = breaks[0]
    test = next((stmt for stmt in statements(loop.body) if isinstance(stmt, ast.If) and stmt.body is inside), None)
    if at or test is None or not 0 < lines.first(way_out) == lines.head(test) + 1:
        return
    step("line {}: the statements after the loop move into it", lines.first(way_out))
    inside[0] = block.pop()


def _move_out(block: list[ast.stmt], loop: ast.While, lines: Lines) -> None:
    """Move a `return` with a line below the loop after it, and put `break` in its place."""
    returns = found_in(loop, ast.Return)
    values = [inside[at] for inside, at in returns]
    if not returns or found_in(loop, ast.Break):
        return
    line = min(map(lines.first, values))
    rest = [stmt for stmt in statements([loop]) if not any(stmt is value for value in values)]
    above = max(map(lines.head, rest))
    if not 0 < above < line or any(lines.first(value) != line for value in values):
        return
    if line == above + 1 and _is_at_end(loop, returns):
        return
    step("line {}: leave the loop, and return after it", line)
    block.append(values[0])
    for inside, at in returns:
        inside[at:] = [ast.Break()]


def _is_at_end(loop: ast.While, spots: list[Spot]) -> bool:
    """Return whether one of the places is the last statement of a loop."""
    block, last = loop.body, loop.body[-1]
    while parts := inner(block[-1]):
        block = parts[-1][0]
        last = block[-1]
    return any(inside[at] is last for inside, at in spots)
