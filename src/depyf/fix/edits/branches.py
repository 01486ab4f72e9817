"""A branch on a tensor becomes `torch.where`, if its arms assign the same names from pure operations, or `torch.cond`.

before:
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
after:
    y = torch.where(x.sum() > 0, x + 1, x - 1)

Both arms run then; `torch.cond` runs one, and is tried next. What they compute must not have an effect or raise, and
must have one shape and type: the first is decided here, the others by the comparison of the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer, subject_of
from depyf.fix.trees import Change, Statement, in_brackets, replace_statement, without_item
from depyf.model.index_reader import Run


@proposer
def chosen_values(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the replacement of a branch by a choice of values, then by `torch.cond`, which runs one arm alone."""
    where = finding.where
    if finding.kind != "break-data-dependent-branch" or where is None:
        return
    for change, what in ((chosen, "`torch.where`"), (_conditional, "`torch.cond`")):

        def apply(module: cst.Module, line: int, change: Change = change) -> cst.Module:
            """Return the module with the statement at a line replaced by the values of its branches.

            Args:
                module: the syntax tree of the user's file.
                line: the line of the `if`.
                change: the rewrite of the statement.
            """
            return replace_statement(module, line, change)

        is_last = change is _conditional
        named = f"the branch becomes {what}"
        yield Edit(where.file, where.line, named, subject_of(finding), apply, is_quiet=is_last)


def chosen(stmt: Statement) -> Sequence[Statement]:
    """Return a branch as a `torch.where` for each name that its arms assign.

    Raises:
        RefusedError: an arm is more than assignments of pure values, or than one `return`.
    """
    assignments: list[cst.SimpleStatementLine] = []
    for target, arms, last in _choices(stmt):
        value = last
        refuse_impure(last)
        for test, arm in reversed(arms):
            refuse_impure(arm)
            values = _tested(test), arm, value
            value = cst.Call(cst.parse_expression("torch.where"), [cst.Arg(operand) for operand in values])
        assignments.append(_statement(target, value))
    return [assignments[0].with_changes(leading_lines=stmt.leading_lines), *assignments[1:]]


def _conditional(stmt: Statement) -> Sequence[Statement]:
    """Return the branch as `torch.cond` with two functions without parameters.

    Raises:
        RefusedError: it has an `elif`, or chooses more than one value.
    """
    choices = _choices(stmt)
    target, arms, last = choices[0]
    if len(choices) > 1 or len(arms) > 1:
        raise RefusedError("`torch.cond` has two arms and one value here")
    test, first = arms[0]
    for branch in (first, last):
        refuse_impure(branch)
    functions = [cst.Lambda(cst.Parameters(), _own(branch)) for branch in (first, last)]
    call = cst.Call(cst.parse_expression("torch.cond"), [cst.Arg(argument) for argument in (_tested(test), *functions)])
    return [_statement(target, call).with_changes(leading_lines=stmt.leading_lines)]


def _tested(test: cst.BaseExpression) -> cst.BaseExpression:
    """Return a condition as a tensor, if it has no effect."""
    condition = condition_of(test)
    refuse_impure(condition)
    return condition


def _own(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return a value that is no input itself: an arm of `torch.cond` must not return one."""
    return cst.Call(cst.Attribute(value, cst.Name("clone"))) if isinstance(value, cst.Name) else value


def _statement(target: cst.Name | None, value: cst.BaseExpression) -> cst.SimpleStatementLine:
    """Return the assignment of a value to a name, or its return."""
    small = cst.Return(value) if target is None else cst.Assign([cst.AssignTarget(target)], value)
    return cst.SimpleStatementLine([small])


Choice = tuple[cst.Name | None, list[tuple[cst.BaseExpression, cst.BaseExpression]], cst.BaseExpression]
"""The name that gets the value, or None for a return; the conditions with their values; the value otherwise."""


def _choices(stmt: Statement) -> list[Choice]:
    """Return the values between which a branch chooses, name by name.

    Raises:
        RefusedError: an arm is more than assignments to the same names, or than one `return`.
    """
    if not isinstance(stmt, cst.If):
        raise RefusedError("it is no `if` statement")
    arms: list[tuple[cst.BaseExpression, cst.BaseSuite]] = []
    at: cst.If | cst.Else | None = stmt
    while isinstance(at, cst.If):
        arms.append((at.test, at.body))
        at = at.orelse
    returned = [_returned(body) for _, body in arms] + ([_returned(at.body)] if at is not None else [])
    if at is not None and all(value is not None for value in returned):
        values = [value for value in returned if value is not None]
        return [(None, [(test, value) for (test, _), value in zip(arms, values, strict=False)], values[-1])]
    assigned = [_assignments(body) for _, body in arms]
    names = list(dict.fromkeys(name for values in assigned for name in values))
    last = _assignments(at.body) if at is not None else {}
    if at is not None and any(set(names) != set(values) for values in (*assigned, last)):
        raise RefusedError("its arms assign different names")
    _refuse_dependent(names, [*assigned, last], [test for test, _ in arms])
    return [
        (
            cst.Name(name),
            [(test, values.get(name, cst.Name(name))) for (test, _), values in zip(arms, assigned, strict=True)],
            last.get(name, cst.Name(name)),
        )
        for name in names
    ]


def _refuse_dependent(
    names: Sequence[str], arms: Sequence[dict[str, cst.BaseExpression]], tests: Sequence[cst.BaseExpression]
) -> None:
    """Refuse several names if a value or a condition after the first reads a name that has its new value by then."""
    for at, name in enumerate(names[1:], start=1):
        values = [arm[name] for arm in arms if name in arm]
        read = {node.value for expression in (*values, *tests) for node in m.findall(expression, m.Name())}  # type: ignore[attr-defined]
        if read & set(names[:at]):
            raise RefusedError("a value of an arm reads another name that the arm assigns")


def _returned(body: cst.BaseSuite) -> cst.BaseExpression | None:
    """Return the value of an arm that is one `return`, or None for another arm."""
    rows = list(body.body)
    inside = rows[0].body if len(rows) == 1 and isinstance(rows[0], cst.SimpleStatementLine) else rows
    return inside[0].value if len(inside) == 1 and isinstance(inside[0], cst.Return) else None


def _assignments(body: cst.BaseSuite) -> dict[str, cst.BaseExpression]:
    """Return the values that an arm assigns to names, if it consists of such assignments."""
    rows = [small for row in body.body for small in (row.body if isinstance(row, cst.SimpleStatementLine) else (row,))]
    values: dict[str, cst.BaseExpression] = {}
    for small in rows:
        name, value = _assignment(small)
        if name in values:
            raise RefusedError("an arm assigns a name twice")
        values[name] = value
    return values


def _assignment(small: cst.CSTNode) -> tuple[str, cst.BaseExpression]:
    """Return the name and the value of an assignment to one name.

    Raises:
        RefusedError: it is another statement.
    """
    if isinstance(small, cst.AugAssign):
        operator = OPERATORS.get(type(small.operator))
        if not isinstance(small.target, cst.Name):
            raise RefusedError("an arm assigns to something else than a name")
        if operator is None:
            raise RefusedError("an arm changes its name in place by an operator without a plain form")
        return small.target.value, cst.BinaryOperation(small.target, operator(), in_brackets(small.value))
    if not isinstance(small, cst.Assign):
        raise RefusedError("an arm is more than assignments")
    target = small.targets[0].target
    if len(small.targets) != 1 or not isinstance(target, cst.Name):
        raise RefusedError("an arm assigns to something else than one name")
    return target.value, small.value


OPERATORS: dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
}


def condition_of(test: cst.BaseExpression) -> cst.BaseExpression:
    """Return the condition as a tensor: an operation of Python's on truth has a form of torch's.

    `.item()` in it is left out.
    """
    test = without_item(test)
    if m.matches(test, m.UnaryOperation(operator=m.Not())):
        return cst.Call(cst.parse_expression("torch.logical_not"), [cst.Arg(test.expression)])  # type: ignore[attr-defined]
    if isinstance(test, cst.BooleanOperation):
        parts = test.left, test.right
        if not all(m.matches(operand, _COMPARED) for operand in parts):
            raise RefusedError("its condition has an `and` or `or` of more than two comparisons")
        name = "torch.logical_and" if isinstance(test.operator, cst.And) else "torch.logical_or"
        return cst.Call(cst.parse_expression(name), [cst.Arg(operand) for operand in parts])
    return test


_ORDER = m.LessThan() | m.GreaterThan() | m.LessThanEqual() | m.GreaterThanEqual()
_COMPARED = m.Comparison(comparisons=[m.ComparisonTarget(operator=_ORDER)])


def refuse_impure(value: cst.BaseExpression) -> None:
    """Refuse a value with a call that may have an effect, or that is evaluated only sometimes."""
    kinds = m.Await() | m.Yield() | m.NamedExpr() | m.Lambda() | m.IfExp() | m.GeneratorExp() | m.ListComp()
    if m.findall(value, kinds):
        raise RefusedError("a value of it is more than operations on tensors")
    for call in m.findall(value, m.Call()):
        assert isinstance(call, cst.Call)
        text = cst.Module([]).code_for_node(call.func)
        name = text.rpartition(".")[2]
        if name in _EFFECTS or name.endswith("_") or ("." not in text and name not in ("float", "abs")):
            raise RefusedError(f"it calls `{text}`, which may have an effect")


_EFFECTS = frozenset(
    ("print", "append", "pop", "update", "item", "tolist", "numpy", "backward", "write", "add", "step")
)
