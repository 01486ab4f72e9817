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
    chosen = cst.Call(cst.parse_expression("torch.where"), [cst.Arg(node) for node in (name, early, final.value)])
    returned = last.with_changes(body=[final.with_changes(value=chosen)])
    return [met, kept, *(_in_both(row, name) for row in rest[:-1]), returned]


def _in_both(row: cst.BaseStatement, met: cst.Name) -> cst.BaseStatement:
    """Return a row that both cases run: an assignment, or a report that only one of them makes.

    Raises:
        RefusedError: it is another statement.
    """
    if isinstance(row, cst.SimpleStatementLine) and all(m.matches(small, m.Assign([_ASSIGNED])) for small in row.body):
        for small in row.body:
            refuse_impure(cst.ensure_type(small, cst.Assign).value)
        return row
    if isinstance(row, cst.If) and row.orelse is None and all(is_report(small) for small in rows_of(row)):
        other = cst.Call(cst.parse_expression("torch.logical_not"), [cst.Arg(met)])
        parts = [cst.Arg(other), cst.Arg(condition_of(row.test))]
        return row.with_changes(test=cst.Call(cst.parse_expression("torch.logical_and"), parts))
    raise RefusedError("the rest of the function does more than assign names and report")
