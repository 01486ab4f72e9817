"""Parentheses around some operands of `and` and `or`, inferred from columns.

Before: a and b and c and d             not a and not b and c
After:  a and (b and c) and d           not (a or b) and c
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.columns import span_of
from depyf.decompiler.passes.source_form.forms import leading_nots
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_not, negated

NOT = len("not ")
WORDS: dict[type[ast.boolop], int] = {ast.And: len(" and "), ast.Or: len(" or ")}
SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
"""Expressions that nobody puts in parentheses."""
Run = tuple[int, int]
"""The first and the last operand in parentheses."""


def gap_between(left: ast.expr, right: ast.expr) -> int | None:
    """Return how many columns are between two expressions on one line, including parentheses."""
    before, after = span_of(left), span_of(right)
    if before is None or after is None:
        return None
    end, start = before[1], after[0]
    return start[1] - end[1] if end[0] == start[0] else None


def turned_runs(test: ast.BoolOp, turns: list[bool]) -> None:
    """Write `not` before a group of neighbours if there is no room for it before each, in place.

    Args:
        turns: for each operand, whether its negation is more than another comparison.
    """
    other_op: type[ast.boolop] = ast.Or if isinstance(test.op, ast.And) else ast.And
    spans: list[Run] = []
    for place, (left, right) in enumerate(zip(test.values, test.values[1:])):
        fits = gap_between(left, right) == WORDS[other_op] + NOT * leading_nots(negated(right))
        if not fits or not (turns[place] and turns[place + 1]) or not (is_not(left) and is_not(right)):
            continue
        if spans and spans[-1][1] == place:
            spans[-1] = spans[-1][0], place + 1
        else:
            spans.append((place, place + 1))
    for first, last in reversed(spans):
        if last - first + 1 < len(test.values):
            step("write `not` before some operands of a test")
            whole = ast.BoolOp(op=other_op(), values=[negated(value) for value in test.values[first : last + 1]])
            test.values[first : last + 1] = [ast.UnaryOp(ast.Not(), whole)]


def group(test: ast.BoolOp) -> None:
    """Put the operands in parentheses into a separate test, in place."""
    for first, last in reversed(_spans(test)):
        if 0 < last - first < len(test.values) - 1:
            step("put some operands of a test in parentheses")
            test.values[first : last + 1] = [ast.BoolOp(op=test.op, values=test.values[first : last + 1])]


def _spans(test: ast.BoolOp) -> list[Run]:
    """Return the operands in parentheses, outermost ones only."""
    values, more = test.values, _more(test)
    has_bare = any(isinstance(value, ast.Compare) and extra == 0 for value, extra in zip(values, more))
    runs: list[Run] = []
    opened: int | None = None
    for place, extra in enumerate(more):
        if opened is not None:
            is_name = place == opened and isinstance(values[place], SIMPLE)
            ends = extra is None and not is_name and _start(values[place + 1]) != _start(values[opened])
            if extra == 1 or ends:
                runs.append((opened, place))
                opened = None
        elif _opens(values, more, place, has_bare):
            opened = place + 1
        elif extra == 1 and _closes(values, place):
            runs.append((0, place))
    return runs if opened is None else [*runs, (opened, len(values) - 1)]


def _more(test: ast.BoolOp) -> list[int | None]:
    """Return the number of extra columns after each operand, beyond those of the operator; None at a line end."""
    word = WORDS[type(test.op)]
    gaps = [(gap_between(previous, other), other) for previous, other in zip(test.values, test.values[1:])]
    return [None if gap is None else gap - word - NOT * leading_nots(other) for gap, other in gaps]


def _opens(values: list[ast.expr], more: list[int | None], place: int, has_bare: bool) -> bool:
    """Return whether a parenthesis between two operands more probably opens before the second than closes here.

    It opens if the first needs none, another one follows, or the next line begins directly after it.

    Args:
        has_bare: there are comparisons without parentheses.
    """
    if place + 2 == len(values):
        return False
    if more[place] is None:
        return _is_moved(values[place], values[place + 1])
    if more[place] != 1:
        return False
    if has_bare or isinstance(values[place], SIMPLE) or 1 in more[place + 1 :]:
        return True
    return more[place + 1] is None and _start(values[place + 1]) == _start(values[place + 2])


def _closes(values: list[ast.expr], place: int) -> bool:
    """Return whether a parenthesis before the last operand closes one before the first: neither of two needs it."""
    return 0 < place == len(values) - 2 and isinstance(values[place], SIMPLE) and isinstance(values[-1], SIMPLE)


def _start(operand: ast.expr) -> int | None:
    """Return the column of an operand, including its `not`."""
    span = span_of(operand)
    return None if span is None else span[0][1] - NOT * leading_nots(operand)


def _is_moved(upper: ast.expr, lower: ast.expr) -> bool:
    """Return whether an operand on a line below another one is one column to the right of it.

    An operand with its own parentheses is no evidence.
    """
    first = _start(upper)
    return not isinstance(lower, ast.BoolOp) and first is not None and _start(lower) == first + 1
