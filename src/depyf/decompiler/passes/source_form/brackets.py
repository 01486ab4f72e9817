"""Parentheses around some operands of `and` and `or`, inferred from columns.

Before: a and b and c and d      After:  a and (b and c) and d
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.columns import span_of
from depyf.decompiler.passes.source_form.forms import leading_nots
from depyf.decompiler.steps import step

NOT = len("not ")
WORDS: dict[type[ast.boolop], int] = {ast.And: len(" and "), ast.Or: len(" or ")}
SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
"""Expressions that nobody puts in parentheses."""
Run = tuple[int, int]
"""The first and the last operand in parentheses."""


def gap_between(one: ast.expr, other: ast.expr) -> int | None:
    """Return how many columns are between two expressions on one line, including parentheses."""
    before, after = span_of(one), span_of(other)
    if before is None or after is None:
        return None
    end, start = before[1], after[0]
    return start[1] - end[1] if end[0] == start[0] else None


def group(test: ast.BoolOp) -> None:
    """Put the operands in parentheses into a separate test, in place."""
    for first, last in reversed(_spans(test)):
        if 0 < last - first < len(test.values) - 1:
            step("put some operands of a test in parentheses")
            test.values[first : last + 1] = [ast.BoolOp(op=test.op, values=test.values[first : last + 1])]


def _spans(test: ast.BoolOp) -> list[Run]:
    """Return the operands in parentheses, outermost ones only."""
    values, more = test.values, _more(test)
    found: list[Run] = []
    opened: int | None = None
    for place, extra in enumerate(more):
        if opened is not None:
            is_name = place == opened and isinstance(values[place], SIMPLE)
            ends = extra is None and not is_name and _start(values[place + 1]) != _start(values[opened])
            if extra == 1 or ends:
                found.append((opened, place))
                opened = None
        elif extra == 1 and place + 2 < len(values):
            opened = place + 1
    return found if opened is None else [*found, (opened, len(values) - 1)]


def _more(test: ast.BoolOp) -> list[int | None]:
    """Return the number of extra columns after each operand, beyond those of the operator; None at a line end."""
    word = WORDS[type(test.op)]
    gaps = [(gap_between(one, other), other) for one, other in zip(test.values, test.values[1:])]
    return [None if gap is None else gap - word - NOT * leading_nots(other) for gap, other in gaps]


def _start(operand: ast.expr) -> int | None:
    """Return the column of an operand, including its `not`."""
    span = span_of(operand)
    return None if span is None else span[0][1] - NOT * leading_nots(operand)
