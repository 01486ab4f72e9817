"""Move statements after a test if the code has them in one arm, because the other arm leaves the block.

Before: if a:               After:  if a:
            b                           b
            return c                else:
                                        return
                                    return c

Statements in the column of the test follow it.
"""

from __future__ import annotations

import ast
import copy

from depyf.decompiler.passes.source_form.columns import Columns, leading_nots
from depyf.decompiler.passes.walk import inner
from depyf.decompiler.steps import step

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
IF, NOT = len("if "), len("not ")


def part_behind(block: list[ast.stmt], stmt: ast.If, columns: Columns, end: ast.stmt) -> None:
    """Move the statements after the last statement of a block out of it, in place; the other arm leaves with `end`."""
    own = _own(stmt, columns)
    if own is None:
        return
    first = next((place for place, each in enumerate(stmt.body) if columns.column(each) == own), 0)
    if first and _comes_to_end(stmt.orelse):
        arm, other = stmt.body, stmt.orelse
    elif isinstance(end, ast.Return) and _is_behind(stmt.orelse, columns, own) and _comes_to_end(stmt.body):
        arm, other, first = stmt.orelse, stmt.body, 0
    else:
        return
    if any((columns.column(each) or own) < own for each in arm[first:]):
        return
    step("line {}: {} statements move after the test", stmt.lineno, len(arm) - first)
    other.append(copy.copy(end))
    block += arm[first:]
    del arm[first:]


def _comes_to_end(arm: list[ast.stmt]) -> bool:
    """Return whether an arm reaches its end from a known place."""
    return not arm or not (isinstance(arm[-1], ENDS) or inner(arm[-1]))


def _own(stmt: ast.If, columns: Columns) -> int | None:
    """Return the column of a test, if its keyword directly precedes it."""
    start, below = columns.starts.get(stmt), columns.below(stmt)
    if start is None or below is None:
        return None
    own = below - columns.unit
    return own if start[1] == own + IF + NOT * leading_nots(stmt.test) else None


def _is_behind(arm: list[ast.stmt], columns: Columns, own: int) -> bool:
    """Return whether an arm is in the column of its test, and is not an `elif`."""
    if not arm or columns.column(arm[0]) != own:
        return False
    start = columns.starts.get(arm[0])
    if not isinstance(arm[0], ast.If):
        return True
    return start is not None and start[1] == own + IF + NOT * leading_nots(arm[0].test)
