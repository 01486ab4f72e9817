"""Write tests as the author did: `not` and parentheses take columns.

Before: if not a and not b: ...      x = c if not a else b
After:  if not (a or b): ...         x = b if a else c
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.guarded import is_told
from depyf.decompiler.passes.source_form.brackets import NOT, WORDS, gap_between, group, turned_runs
from depyf.decompiler.passes.source_form.columns import UNIT, Columns, span_of
from depyf.decompiler.passes.source_form.forms import leading_nots
from depyf.decompiler.passes.walk import of_kinds, statements
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_not, negated

TESTING = (ast.If, ast.While, ast.Assert)
CONDITIONAL = frozenset({ast.BoolOp, ast.IfExp})
GAPS = (len("if ") + NOT, len("if (") + NOT, len("elif ") + NOT)
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
MANY = 3
"""The least operands of `and` for which people write one `not` before all of them."""
MAX_OPERANDS = 100
"""The most operands of a test for which the search for a leading `not` is worth its time."""


def restore_tests(body: list[ast.stmt], columns: Columns, has_conditions: bool = True) -> None:
    """Write tests and conditional expressions as their columns show them, in place.

    Args:
        body: the statements.
        columns: the columns of the statements.
        has_conditions: whether the code may contain `and`, `or` or conditional expressions.
    """
    if has_conditions:
        restore_conditional_expressions(body)
    for stmt in statements(body):
        if isinstance(stmt, TESTING):
            stmt.test = _restored(stmt.test)
            if isinstance(stmt, ast.If):
                _add_not(stmt, columns)
                stmt.test = _without_columns(stmt.test)


def restore_conditional_expressions(body: list[ast.stmt]) -> None:
    """Write conditional expressions as their columns show them, in place, and values with `and` and `or`."""
    exprs = of_kinds(body, CONDITIONAL)
    for expr in exprs:
        if isinstance(expr, ast.BoolOp) and not is_told(expr):
            group(expr)
    for expr in exprs:
        if isinstance(expr, ast.IfExp):
            _turn(expr)
            expr.test = _restored(expr.test)


def _turn(expr: ast.IfExp) -> None:
    """Write the arm first that comes first: `a if c else b`."""
    first, test, last = span_of(expr.body), span_of(expr.test), span_of(expr.orelse)
    if first is not None and test is not None and last is not None and last[0] < test[0] < first[0]:
        step("swap the arms of a conditional expression")
        expr.test, expr.body, expr.orelse = negated(expr.test), expr.orelse, expr.body


def _restored(test: ast.expr) -> ast.expr:
    """Return a test with its original `not` before groups, and before comparisons."""
    whole = ast.BoolOp(op=ast.And(), values=[test])
    order: list[ast.BoolOp | ast.UnaryOp] = [whole]
    for outer in order:  # The list grows during the iteration.
        order += [operand for operand in _operands(outer) if isinstance(operand, ast.BoolOp) or is_not(operand)]
    long: dict[ast.expr, ast.BoolOp] = {}
    for outer in reversed(order):
        if isinstance(outer, ast.UnaryOp):
            if outer.operand not in long:
                outer.operand = _of_operands(outer.operand, is_turned=True)
            continue
        outer.values = [operand if operand in long else _of_operands(operand) for operand in map(_once, outer.values)]
        if outer is whole:
            break
        kind = type(outer.op)
        outer.values = [operand for value in outer.values for operand in _flat(value, kind, long)]
        inside = {type(long[value].op) for value in outer.values if value in long}
        if len(outer.values) > MAX_OPERANDS or kind in inside:
            long[outer] = outer
    _join([*reversed(long.values())], long)
    return whole.values[0]


def _flat(test: ast.expr, kind: type[ast.boolop], long: dict[ast.expr, ast.BoolOp]) -> list[ast.expr]:
    """Return the operands of a short test with the same operator as the one around it, or the test itself."""
    is_part = isinstance(test, ast.BoolOp) and type(test.op) is kind and test not in long
    return test.values if is_part else [test]  # type: ignore[attr-defined]


def _join(tests: list[ast.BoolOp], long: dict[ast.expr, ast.BoolOp]) -> None:
    """Give each long test the operands of the long ones in it with the same operator, in place.

    Args:
        tests: the long tests, outer ones first. Each operand is moved once: to copy all operands at every level takes
            quadratic time.
    """
    for outer in tests:
        values: list[ast.expr] = []
        waiting = outer.values[::-1]
        while waiting:
            value = waiting.pop()
            inner = long.get(value)
            if inner is not None and type(inner.op) is type(outer.op):
                waiting += inner.values[::-1]
                inner.values = []
            else:
                values.append(value)
        outer.values = values


def _once(test: ast.expr) -> ast.expr:
    """Return a test without a double `not` in front."""
    return test.operand.operand if is_not(test) and is_not(test.operand) else test


def _operands(test: ast.BoolOp | ast.UnaryOp) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) else [test.operand]


def _of_operands(test: ast.expr, is_turned: bool = False) -> ast.expr:
    """Return `and` or `or` with `not` if the gaps between its operands have room for it; other tests unchanged.

    Args:
        is_turned: whether a `not` precedes the whole. If it does not, the column at the start of a line is too little
            evidence for adding a `not` to an operand.
    """
    if not isinstance(test, ast.BoolOp):
        return test
    here, turned = WORDS[type(test.op)], WORDS[ast.Or if isinstance(test.op, ast.And) else ast.And]
    gaps = [(other, gap_between(previous, other)) for previous, other in zip(test.values, test.values[1:])]
    fits_here = sum(_fits(other, gap, here, leading_nots(other)) for other, gap in gaps)
    fits_turned = sum(
        _fits(other, gap, turned, leading_nots(negated(other)))
        for other, gap in gaps
        if gap is not None or is_turned or is_not(other)
    )
    if fits_turned > fits_here and all(
        _turns(value) or (place and gaps[place - 1][1] == turned + NOT) for place, value in enumerate(test.values)
    ):
        step("write `not` before a whole test")
        op = ast.And() if isinstance(test.op, ast.Or) else ast.Or()
        return ast.UnaryOp(ast.Not(), ast.BoolOp(op, [negated(value) for value in test.values]))
    for place, (other, gap) in enumerate(gaps, 1):
        if gap == here + NOT and isinstance(other, ast.Compare):
            test.values[place] = _with_not(other)
    turned_runs(test, [_turns(value) for value in test.values])
    group(test)
    return test


def _fits(operand: ast.expr, gap: int | None, word: int, nots: int) -> bool:
    """Return whether a word and this many `not` fit before an operand: its line may begin with them.

    A line that begins with the operand, or after four columns, is no evidence.
    """
    if gap is not None:
        return gap == word + NOT * nots
    span, begin = span_of(operand), word - len(" ") + NOT * nots
    return span is not None and begin % UNIT != 0 and span[0][1] % UNIT == begin % UNIT


def _turns(test: ast.expr) -> bool:
    """Return whether the opposite of an operand has one `not` more or less, instead of another comparison."""
    return not isinstance(test, ast.Compare) or type(test.ops[0]) not in OPPOSITE or len(test.ops) > 1


def _without_columns(test: ast.expr) -> ast.expr:
    """Return the more common form of a test without columns: `not a or not b`, but `not (a or b or c)`.

    Comparisons are better without `not` in any case.
    """
    whole = test.operand if is_not(test) else test
    if not isinstance(whole, ast.BoolOp) or not isinstance(whole.op, ast.And) or span_of(whole) is not None:
        return test
    count = sum(map(is_not, whole.values))
    inside = [value.operand if is_not(value) else value for value in whole.values]
    if any(isinstance(value, (ast.Compare, ast.BoolOp)) for value in inside):
        return test
    if whole is not test and not count:
        return ast.BoolOp(op=ast.Or(), values=[negated(value) for value in whole.values])
    if whole is test and count == len(inside) >= MANY:
        return ast.UnaryOp(ast.Not(), ast.BoolOp(op=ast.Or(), values=inside))
    return test


def _add_not(stmt: ast.If, columns: Columns) -> None:
    """Write `not a is b` for `a is not b`, which is the same operation, if there is room for it."""
    head = stmt.test.values[0] if isinstance(stmt.test, ast.BoolOp) else stmt.test
    if not isinstance(head, ast.Compare) or columns.gap(stmt) not in GAPS:
        return
    if head is stmt.test:
        stmt.test = _with_not(head)
    elif isinstance(stmt.test, ast.BoolOp):
        stmt.test.values[0] = _with_not(head)


def _with_not(test: ast.Compare) -> ast.expr:
    """Return `not a in b` for `a not in b`, and similarly for `is not`; other comparisons unchanged."""
    opposite = OPPOSITE.get(type(test.ops[0]))
    if opposite not in (ast.Is, ast.In) or len(test.ops) > 1:
        return test
    step("write `not` before a comparison")
    return ast.UnaryOp(ast.Not(), ast.Compare(test.left, [opposite()], test.comparators))
