"""A branch on a tensor without an `else` becomes statements that each choose between a new value and the old one.

before:
    if total > max_norm:
        coef = max_norm / total
        grads = [g * coef for g in grads]
after:
    is_met = total > max_norm
    coef = max_norm / total
    grads = [torch.where(is_met, g * coef, g) for g in grads]

A name that nothing reads outside of the branch is computed in both cases. A change in place becomes a `copy_` of the
chosen value, also in a loop of the branch. Reports of the branch become a function that torch calls after the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer, subject_of
from depyf.fix.edits.branches import OPERATORS, condition_of, refuse_impure
from depyf.fix.edits.reports import is_report, reported
from depyf.fix.trees import Statement, in_brackets, replace_statement, statement
from depyf.model.index_reader import Run

CONDITION = "is_met"
"""The name that holds the condition; a number follows if the module has the name."""
IN_PLACE = frozenset(
    ("mul_", "add_", "sub_", "div_", "clamp_", "clamp_min_", "clamp_max_", "neg_", "abs_", "sqrt_", "exp_", "tanh_")
)
FILLED = {"zero_": "torch.zeros_like({0})", "fill_": "torch.full_like({0}, {1})", "copy_": "{1}"}


@proposer
def guarded_values(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the choice of each value that a branch without an `else` changes."""
    where = finding.where
    if finding.kind != "break-data-dependent-branch" or where is None:
        return
    what = "each value of the branch becomes a `torch.where`"
    yield Edit(where.file, where.line, what, subject_of(finding), guarded, is_quiet=True)


def guarded(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the branch at a line as statements that choose their values.

    Raises:
        RefusedError: it has an `else`, or does more than set names, change tensors in place, and report.
    """
    module, line = _without_reports(module, line)

    def change(stmt: Statement) -> Sequence[Statement]:
        branch = _branch(stmt)
        condition = condition_of(branch.test)
        refuse_impure(condition)
        name = fresh(module)
        rows = [row for node in rows_of(branch) for row in _chosen(module, branch, node, cst.Name(name))]
        assigned = cst.Assign([cst.AssignTarget(cst.Name(name))], condition)
        return [cst.SimpleStatementLine([assigned], leading_lines=stmt.leading_lines), *rows]

    return replace_statement(module, line, change)


def _branch(stmt: Statement) -> cst.If:
    if not isinstance(stmt, cst.If) or stmt.orelse is not None:
        raise RefusedError("it is no `if` statement, or has an `else`")
    return stmt


def rows_of(block: cst.If | cst.For) -> list[cst.BaseStatement | cst.BaseSmallStatement]:
    """Return the statements of a block, without docstrings and `pass`."""
    rows: list[cst.BaseStatement | cst.BaseSmallStatement] = []
    for row in block.body.body:
        rows += row.body if isinstance(row, cst.SimpleStatementLine) else [row]
    return [node for node in rows if not m.matches(node, m.Pass())]


def fresh(module: cst.Module, wanted: str = CONDITION) -> str:
    """Return a name that the module does not have: the wanted one, or one with a number."""
    taken = {cst.ensure_type(node, cst.Name).value for node in m.findall(module, m.Name())}
    return next(name for name in (wanted, *(f"{wanted}_{n}" for n in range(2, 100))) if name not in taken)


def _without_reports(module: cst.Module, line: int) -> tuple[cst.Module, int]:
    """Return the module with the reports of a branch after the graph, and the line that the branch has then.

    Raises:
        RefusedError: a report comes after another statement, which may change what it prints.
    """
    count: list[int] = []

    def split(stmt: Statement) -> Sequence[Statement]:
        branch = _branch(stmt)
        rows = rows_of(branch)
        reporting = [is_report(node) for node in rows]
        count.append(sum(reporting))
        if not any(reporting) or all(reporting):
            return [stmt]
        if reporting != sorted(reporting, reverse=True) or "\n" in module.code_for_node(branch.test):
            raise RefusedError("a report of the branch comes after another statement")
        return [
            _with_rows(branch, rows[: count[0]]),
            _with_rows(branch, rows[count[0] :]).with_changes(leading_lines=()),
        ]

    changed = replace_statement(module, line, split)
    if not count[0]:
        return module, line
    return reported(changed, line), line + 1


def _with_rows(branch: cst.If, rows: Sequence[cst.CSTNode]) -> cst.If:
    whole = [node if isinstance(node, cst.BaseStatement) else cst.SimpleStatementLine([node]) for node in rows]  # type: ignore[list-item]
    return branch.with_changes(body=cst.IndentedBlock(whole))


def _chosen(module: cst.Module, branch: cst.If, row: cst.CSTNode, condition: cst.Name) -> list[Statement]:
    """Return a statement of a branch in the form that both cases run.

    Raises:
        RefusedError: it has no such form.
    """
    if isinstance(row, cst.For):
        refuse_impure(row.iter)
        if row.orelse is not None:
            raise RefusedError("a loop of the branch has an `else`")
        rows = [_changed_in_place(node, condition) for node in rows_of(row)]
        return [row.with_changes(body=cst.IndentedBlock(rows), leading_lines=())]
    if isinstance(row, cst.Assign) and m.matches(row, m.Assign(targets=[m.AssignTarget(m.Name())])):
        name = cst.ensure_type(row.targets[0].target, cst.Name)
        if _is_listed(row.value, name):
            return [_line(row.with_changes(value=_with_chosen_items(row.value, condition)))]
        refuse_impure(row.value)
        if len(m.findall(module, m.Name(name.value))) == len(m.findall(branch, m.Name(name.value))):
            return [_line(row)]
        return [_line(row.with_changes(value=_where(condition, row.value, name)))]
    if isinstance(row, cst.AugAssign) and isinstance(row.target, cst.Name) and type(row.operator) in OPERATORS:
        value = cst.BinaryOperation(row.target, OPERATORS[type(row.operator)](), in_brackets(row.value))
        refuse_impure(value)
        return [_line(cst.Assign([cst.AssignTarget(row.target)], _where(condition, value, row.target)))]
    return [_changed_in_place(row, condition)]


def _line(row: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([row])


def _where(condition: cst.Name, value: cst.BaseExpression, other: cst.BaseExpression) -> cst.Call:
    return cst.Call(cst.parse_expression("torch.where"), [cst.Arg(node) for node in (condition, value, other)])


def _is_listed(value: cst.BaseExpression, name: cst.Name) -> bool:
    """Return whether a value is a list of changed items of the name that it is assigned to."""
    plain = m.CompFor(target=m.Name(), iter=m.Name(name.value), ifs=[], inner_for_in=None, asynchronous=None)
    return m.matches(value, m.ListComp(for_in=plain))


def _with_chosen_items(value: cst.BaseExpression, condition: cst.Name) -> cst.ListComp:
    listed = cst.ensure_type(value, cst.ListComp)
    refuse_impure(listed.elt)
    item = cst.ensure_type(listed.for_in.target, cst.Name)
    return listed.with_changes(elt=_where(condition, listed.elt, item))


def _changed_in_place(row: cst.CSTNode, condition: cst.Name) -> cst.SimpleStatementLine:
    """Return a change of a tensor in place as a copy of the chosen value into it.

    Raises:
        RefusedError: it is no such change, or its tensor or arguments are more than operations on tensors.
    """
    code = cst.Module([]).code_for_node
    owner: cst.BaseExpression
    data = m.Assign(targets=[m.AssignTarget(m.Attribute(attr=m.Name("data")))])
    if m.matches(row, data):
        assigned = cst.ensure_type(row, cst.Assign)
        owner, value = assigned.targets[0].target, assigned.value
    elif m.matches(row, m.Expr(m.Call(m.Attribute()))):
        call = cst.ensure_type(cst.ensure_type(row, cst.Expr).value, cst.Call)
        function = cst.ensure_type(call.func, cst.Attribute)
        owner, name = function.value, function.attr.value
        given = [code(node.value) for node in call.args]
        if name in IN_PLACE:
            value = call.with_changes(func=function.with_changes(attr=cst.Name(name.removesuffix("_"))))
        elif name in FILLED and len(given) == FILLED[name].count("{1}"):
            value = cst.parse_expression(FILLED[name].format(code(owner), *given))
        else:
            raise RefusedError(f"the branch calls `{name}`")
    else:
        raise RefusedError("the branch does more than set names and change tensors in place")
    for node in (owner, value):
        refuse_impure(node)
    chosen = code(_where(condition, value, owner))
    return statement(f"{code(owner)}.copy_({chosen})")
