"""`return a if c else b`, for which the compiler makes two returns.

Before: if c: return a       After:  return a if c else b
        return b

Both returns have the location of the one statement, which begins before the test.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.extent import note_place, place_of
from depyf.decompiler.lift.nodes import literal
from depyf.decompiler.passes.source_form.columns import Start, start_of
from depyf.decompiler.passes.walk import compound, inner
from depyf.decompiler.steps import step

FAR = 1 << 40
WITH = (ast.With, ast.AsyncWith)
Block = tuple[list[ast.stmt], int, bool]
"""Statements, the last line of an enclosing `with`, and whether the code ends after them."""


def restore_conditionals(body: list[ast.stmt]) -> None:
    """Join returns that come from one statement, in place."""
    order: list[Block] = [(body, 0, True)]
    for block, line, is_end in order:  # The list grows during the iteration.
        for stmt in compound(block):
            head_line = _line_of_head(stmt) if isinstance(stmt, WITH) else line
            ends = is_end and stmt is block[-1] and isinstance(stmt, ast.If)
            order += [(below, head_line, ends) for below, _, _ in inner(stmt)]
    for block, line, is_end in reversed(order):
        for place in range(len(block) - 1, -1, -1):
            stmt = block[place]
            if not isinstance(stmt, ast.If) or len(stmt.body) != 1 or len(stmt.orelse) > 1:
                continue
            first = stmt.body[0]
            rest = stmt.orelse or block[place + 1 : place + 2]
            if isinstance(first, ast.Return) and _is_one(first, rest, stmt, line, is_end):
                block[place] = joined = _joined(first, rest, stmt.test)
                step("line {}: join two returns to a conditional expression", joined.lineno)
                if not stmt.orelse:
                    del block[place + 1 : place + 2]


def _line_of_head(stmt: ast.With | ast.AsyncWith) -> int:
    """Return the line on which a `with` begins, or a line after all others if unknown."""
    start = start_of(stmt.items[0].context_expr)
    return FAR if start is None else start[0]


def _is_one(first: ast.Return, rest: list[ast.stmt], outer: ast.If, line: int, is_end: bool) -> bool:
    """Return whether a return and the following statements come from one statement with a test in it.

    Args:
        line: the last line of an enclosing `with`: an exit from the `with` has its location.
    """
    place, start = place_of(first), start_of(outer.test)
    if first.value is None and place is None and _begins_before(rest, start, line):
        return True
    if getattr(first, "lineno", 0) <= line or (place is not None and (start is None or place[:2] >= start)):
        return False
    if not rest:
        is_on_line = start is None and first.value is not None and 0 < outer.lineno == first.lineno
        return is_end and (place is not None or is_on_line)
    other = rest[0]
    is_near = getattr(other, "lineno", 0) == first.lineno
    return isinstance(other, ast.Return) and is_near and place_of(other) == place


def _begins_before(rest: list[ast.stmt], start: Start | None, line: int) -> bool:
    """Return whether a return begins before its test: the `return None` of the other arm has lost its location."""
    whole = place_of(rest[0]) if rest and isinstance(rest[0], ast.Return) else None
    return whole is not None and start is not None and whole[:2] < start and whole.line > line


def _joined(first: ast.Return, rest: list[ast.stmt], test: ast.expr) -> ast.Return:
    arms = [getattr(stmt, "value", None) or literal(None) for stmt in (first, *rest)]
    if not rest:
        arms.append(literal(None))
    known = next((stmt for stmt in (first, *rest) if place_of(stmt) is not None), first)
    joined = ast.Return(value=ast.IfExp(test=test, body=arms[0], orelse=arms[1]), lineno=known.lineno)
    note_place(joined, place_of(known))
    return joined
