"""`if __debug__:`, which the compiler decides; an instruction without effect keeps the location of its test.

Before: f()      After:  if __debug__:
        g()                  f()
                         g()

Statements to the right of the `if` belong to it.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.walk import compound, inner
from depyf.decompiler.steps import step

DEBUG = "__debug__"
IF, NOT = len("if "), len("not ")
AND = len("__debug__ and ")


def restore_debug(body: list[ast.stmt], columns: Columns) -> None:
    """Write tests of `__debug__` where their locations and columns show them, in place."""
    for line, column in sorted(_tested(columns), reverse=True):
        _put(body, line, column, columns)


def _tested(columns: Columns) -> list[tuple[int, int]]:
    """Return possible locations of `__debug__`: those of its width, directly after an `if`, without an operation."""
    return [
        (place.line, place.column)
        for place in columns.left.idle
        if place.end_column == place.column + len(DEBUG) and place.column >= IF
        if (place.column - IF) % columns.unit == 0
    ]


def _put(body: list[ast.stmt], line: int, column: int, columns: Columns) -> None:
    """Put the statements to the right of a test of `__debug__`, and after it, under it."""
    if_column = column - IF
    earliest: tuple[tuple[int, int], list[ast.stmt], int] | None = None
    work = [body]
    for block in work:  # The list grows during the iteration.
        for place, stmt in enumerate(block):
            start = columns.starts.get(stmt)
            if start is not None and start > (line, column) and columns.column(stmt) == if_column + columns.unit:
                if earliest is None or start < earliest[0]:
                    earliest = start, block, place
        for stmt in compound(block):
            work += [below for below, _, _ in inner(stmt)]
    if earliest is None:
        return
    _, block, place = earliest
    end = place + 1
    while end < len(block) and (columns.column(block[end]) or 0) > if_column:
        end += 1
    step("line {}: write `if __debug__`", line)
    outer = ast.If(test=_name(), body=block[place:end], orelse=[], lineno=line)
    columns.starts[outer] = line, column
    block[place:end] = [outer]


def _name() -> ast.Name:
    return ast.Name(id=DEBUG, ctx=ast.Load())
