"""An early return on a tensor becomes a choice between its value and the result of the rest, which runs in both cases.

before:
    if not mask.any():
        return x.sum() * 0
    y = x[mask]
    return y.mean()
after:
    is_met = torch.logical_not(mask.any())
    early = x.sum() * 0
    y = x[mask]
    return torch.where(is_met, early, y.mean())

The early return may be there because the rest raises an error otherwise, as `x[mask].max()` does for no item. The run
need not show that. So an operation in the rest that may raise by its values is refused.

A report in a branch of the rest gets the other case as a part of its condition.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer, subject_of
from depyf.fix.edits.branches import condition_of, refuse_impure
from depyf.fix.edits.guarded import fresh, rows_of
from depyf.fix.edits.reports import is_report
from depyf.model.index_reader import Run

_RETURN = m.SimpleStatementLine([m.Return(value=~m.MatchIfTrue(lambda value: value is None))])
_EARLY = m.If(body=m.IndentedBlock([_RETURN]) | m.SimpleStatementSuite([m.Return()]), orelse=None)
_ASSIGNED = m.AssignTarget(m.Name() | m.Tuple([m.ZeroOrMore(m.Element(m.Name()))]))


@proposer
def early_returns(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the choice between an early return and the rest of its function."""
    where = finding.where
    if finding.kind == "break-data-dependent-branch" and where is not None:
        what = "the early return becomes a `torch.where` at the end"
        yield Edit(where.file, where.line, what, subject_of(finding), returned_late, is_quiet=True)


def returned_late(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the early return at a line as a choice at the end of its function.

    Raises:
        RefusedError: the line has no early return on the level of its function, or the rest of the function does more
            than assign names, report and return one value.
    """
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for node in m.findall(module, m.FunctionDef(body=m.IndentedBlock())):
        function = cst.ensure_type(node, cst.FunctionDef)
        rows = list(cst.ensure_type(function.body, cst.IndentedBlock).body)
        for at, row in enumerate(rows):
            if lines[row].start.line == line and m.matches(row, _EARLY):
                body = [*rows[:at], *_late(module, cst.ensure_type(row, cst.If), rows[at + 1 :])]
                changed = module.deep_replace(function, function.with_deep_changes(function.body, body=body))
                assert isinstance(changed, cst.Module)
                return changed
    raise RefusedError("the line has no early return on the level of its function")


def _late(module: cst.Module, branch: cst.If, rest: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Return the rows of a function from an early return on, in the form that both cases run.

    Args:
        module: the syntax tree of the user's file.
        branch: the branch that returns.
        rest: the rows after it.
    """
    value = cst.ensure_type(rows_of(branch)[0], cst.Return).value
    condition = condition_of(branch.test)
    if value is None or not rest or not m.matches(rest[-1], _RETURN):
        raise RefusedError("the function does not end with the return of a value")
    for expression in (condition, value):
        refuse_impure(expression)
    name, early = cst.Name(fresh(module)), cst.Name(fresh(module, "early"))
    met = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(name)], condition)], branch.leading_lines)
    # The rest may give the names in it other values.
    kept = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(early)], value)])
    last = cst.ensure_type(rest[-1], cst.SimpleStatementLine)
    final = cst.ensure_type(last.body[0], cst.Return)
    assert final.value is not None
    _refuse_raising(final.value)
    chosen = cst.Call(cst.parse_expression("torch.where"), [cst.Arg(node) for node in (name, early, final.value)])
    returned = last.with_changes(body=[final.with_changes(value=chosen)])
    return [met, kept, *(_in_both(module, row, name) for row in rest[:-1]), returned]


def _in_both(module: cst.Module, row: cst.BaseStatement, met: cst.Name) -> cst.BaseStatement:
    """Return a row that both cases run: an assignment, or a report that only one of them makes.

    Args:
        module: the syntax tree of the user's file.
        row: the row.
        met: the name of the condition of the early return.

    Raises:
        RefusedError: it is another statement.
    """
    if isinstance(row, cst.SimpleStatementLine) and all(m.matches(small, m.Assign([_ASSIGNED])) for small in row.body):
        for small in row.body:
            value = cst.ensure_type(small, cst.Assign).value
            refuse_impure(value)
            _refuse_raising(value)
        return row
    if isinstance(row, cst.If) and row.orelse is None and all(is_report(small) for small in rows_of(row)):
        _refuse_raising(row.test)
        return row.with_changes(test=_and_not(met, condition_of(row.test)))
    call = _moved_report(module, row)
    if call is not None:
        first = call.args[0].with_changes(value=_and_not(met, call.args[0].value))
        changed = row.deep_replace(call, call.with_changes(args=[first, *call.args[1:]]))
        return cst.ensure_type(changed, cst.SimpleStatementLine)
    raise RefusedError("the rest of the function does more than assign names and report")


def _refuse_raising(value: cst.BaseExpression) -> None:
    """Refuse a value that may raise an error for some values of its tensors: of no item, or of a singular matrix."""
    for call in m.findall(value, m.Call()):
        name = cst.Module([]).code_for_node(cst.ensure_type(call, cst.Call).func).rpartition(".")[2]
        if name in RAISING:
            raise RefusedError(f"`{name}` in the rest may raise an error where the function returns early")
    for number in (m.Integer(), m.UnaryOperation(expression=m.Integer())):
        element = m.SubscriptElement(m.Index(number))
        if m.findall(value, m.Subscript(slice=[m.ZeroOrMore(), element, m.ZeroOrMore()])):
            raise RefusedError("the rest takes an item by its number, which may not be there")
    divides = m.Divide() | m.Modulo() | m.FloorDivide()
    if m.findall(value, m.BinaryOperation(m.Integer() | m.Float(), divides)):
        raise RefusedError("the rest divides a number, which may be by zero")


RAISING = frozenset(
    "max min amax amin aminmax argmax argmin median nanmedian mode kthvalue topk quantile nanquantile multinomial "
    "stack cat cholesky inv inverse solve svd eigh eig eigvalsh lstsq qr cummax cummin scatter gather index_select "
    "take one_hot embedding reshape view unflatten squeeze_".split()
)
"""Functions that raise an error for an empty tensor, a singular matrix, or an index out of range."""


def _and_not(met: cst.Name, condition: cst.BaseExpression) -> cst.Call:
    other = cst.Call(cst.parse_expression("torch.logical_not"), [cst.Arg(met)])
    return cst.Call(cst.parse_expression("torch.logical_and"), [cst.Arg(other), cst.Arg(condition)])


def _moved_report(module: cst.Module, row: cst.BaseStatement) -> cst.Call | None:
    """Return the call of a report that another edit has moved, if it reports or not by its first argument."""
    if not m.matches(row, m.SimpleStatementLine([m.Expr(m.Call(m.Name(m.MatchRegex(r"report_\d+"))))])):
        return None
    call = cst.ensure_type(m.findall(row, m.Call(m.Name(m.MatchRegex(r"report_\d+"))))[0], cst.Call)
    name = cst.ensure_type(call.func, cst.Name).value
    reporter = m.FunctionDef(m.Name(name), params=m.Parameters([m.Param(m.Name("condition")), m.ZeroOrMore()]))
    tests = m.If(m.Name("condition"), orelse=None)
    definitions = m.findall(module, reporter)
    return call if definitions and m.findall(definitions[0], tests) else None
