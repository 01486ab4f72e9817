"""Which statements belong to the body of a `try`, and which to its `else`, where both come to the same.

Before: try: f()                After:  try:
        except E: return False              f()
        else: return True                   return True
                                        except E: return False

A statement that cannot raise is the same in both. What stands before the clauses in the source belongs to the body.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.written.columns import Columns
from depyf.decompiler.steps import step


def part_try(stmt: ast.Try, columns: Columns) -> None:
    """Move statements between the body and the `else` of a statement as their lines show it, in place."""
    lines = [line for clause in stmt.handlers for line in columns.lines(clause)]
    lines += [line for clause in stmt.handlers for each in clause.body for line in columns.lines(each)]
    if not lines:
        return
    first, last = min(lines), max(lines)
    count = _leading(stmt.orelse, columns, 0, first)
    if count:
        step("line {}: statements stand before the clauses", first)
        stmt.body += stmt.orelse[:count]
        del stmt.orelse[:count]
    elif not stmt.orelse:
        count = _leading(stmt.body[::-1], columns, last, FAR)
        if 0 < count < len(stmt.body):
            step("line {}: statements stand behind the clauses", last)
            stmt.orelse = stmt.body[-count:]
            del stmt.body[-count:]


FAR = 1 << 40


def _leading(stmts: list[ast.stmt], columns: Columns, above: int, below: int) -> int:
    """Return how many of the first statements stand between two lines."""
    count = 0
    for stmt in stmts:
        lines = columns.lines(stmt)
        if not lines or not above < lines[0] < below:
            break
        count += 1
    return count
