"""A branch on a tensor becomes `torch.where`, if both arms assign the same name from pure operations.

before:
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
after:
    y = torch.where(x.sum() > 0, x + 1, x - 1)

Both arms run then. What they compute must not have an effect or raise, and must have one shape and type: the first is
decided here, the others by the comparison of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer, subject_of
from depyf.fix.trees import Statement, replace_statement
from depyf.model.index_reader import Run


@proposer
def chosen_values(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the replacement of a branch by a choice of values."""
    where = finding.where
    if finding.kind != "break-data-dependent-branch" or where is None:
        return

    def apply(module: cst.Module, line: int) -> cst.Module:
        return replace_statement(module, line, _chosen)

    yield Edit(where.file, where.line, "the branch becomes `torch.where`", subject_of(finding), apply)


def _chosen(found: Statement) -> Sequence[Statement]:
    if not isinstance(found, cst.If):
        raise RefusedError("it is no `if` statement")
    if m.matches(found, m.If(orelse=m.Else())) and isinstance(found.orelse, cst.Else):
        pair = _returned(found.body), _returned(found.orelse.body)
        if pair[0] is not None and pair[1] is not None:
            return [_choice(found, cst.Return, pair[0], pair[1])]
    arm = _assignment(found.body)
    other = _other_arm(found, arm)
    return [_choice(found, arm.with_changes, arm.value, other)]


def _choice(
    found: cst.If, made: Callable[..., cst.BaseSmallStatement], one: cst.BaseExpression, other: cst.BaseExpression
) -> cst.SimpleStatementLine:
    """Return the statement that chooses between two values.

    Raises:
        RefusedError: a value or the condition may have an effect.
    """
    for value in (found.test, one, other):
        _refuse_impure(value)
    where = cst.parse_expression("torch.where")
    call = cst.Call(where, [cst.Arg(each) for each in (_condition(found.test), one, other)])
    return cst.SimpleStatementLine([made(value=call)], leading_lines=found.leading_lines)


def _returned(body: cst.BaseSuite) -> cst.BaseExpression | None:
    """Return the value of an arm that is one `return`, or None for another arm."""
    rows = list(body.body)
    inside = rows[0].body if len(rows) == 1 and isinstance(rows[0], cst.SimpleStatementLine) else rows
    return inside[0].value if len(inside) == 1 and isinstance(inside[0], cst.Return) else None


def _other_arm(found: cst.If, arm: cst.Assign) -> cst.BaseExpression:
    """Return the value of the other arm; without one, the variable keeps its value."""
    target = arm.targets[0].target
    if found.orelse is None:
        return target
    if not isinstance(found.orelse, cst.Else):
        raise RefusedError("it has an `elif`")
    other = _assignment(found.orelse.body)
    if not other.targets[0].target.deep_equals(target):
        raise RefusedError("its arms assign different names")
    return other.value


def _assignment(body: cst.BaseSuite) -> cst.Assign:
    """Return the one assignment to a name that an arm consists of."""
    rows = list(body.body)
    inside = rows[0].body if len(rows) == 1 and isinstance(rows[0], cst.SimpleStatementLine) else rows
    if len(inside) != 1 or not isinstance(inside[0], (cst.Assign, cst.AugAssign)):
        raise RefusedError("an arm is more than one assignment")
    made = inside[0]
    if isinstance(made, cst.AugAssign):
        if not isinstance(made.target, cst.Name):
            raise RefusedError("an arm assigns to something else than a name")
        operator = _OPERATORS.get(type(made.operator))
        if operator is None:
            raise RefusedError("an arm changes its name in place by an operator without a plain form")
        value = cst.BinaryOperation(made.target, operator(), _in_brackets(made.value))
        return cst.Assign([cst.AssignTarget(made.target)], value)
    if len(made.targets) != 1 or not isinstance(made.targets[0].target, cst.Name):
        raise RefusedError("an arm assigns to something else than one name")
    return made


_OPERATORS: dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
}


def _in_brackets(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, (cst.Name, cst.Integer, cst.Float, cst.Call, cst.Attribute, cst.Subscript)) or value.lpar:
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _condition(test: cst.BaseExpression) -> cst.BaseExpression:
    """Return the condition as a tensor: an operation of Python's on truth has a form of torch's."""
    if m.matches(test, m.UnaryOperation(operator=m.Not())):
        return cst.Call(cst.parse_expression("torch.logical_not"), [cst.Arg(test.expression)])  # type: ignore[attr-defined]
    if isinstance(test, cst.BooleanOperation):
        parts = test.left, test.right
        if not all(m.matches(each, _COMPARED) for each in parts):
            raise RefusedError("its condition has an `and` or `or` of more than two comparisons")
        name = "torch.logical_and" if isinstance(test.operator, cst.And) else "torch.logical_or"
        return cst.Call(cst.parse_expression(name), [cst.Arg(each) for each in parts])
    return test


_ORDER = m.LessThan() | m.GreaterThan() | m.LessThanEqual() | m.GreaterThanEqual()
_COMPARED = m.Comparison(comparisons=[m.ComparisonTarget(operator=_ORDER)])


def _refuse_impure(value: cst.BaseExpression) -> None:
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
