"""The check for an empty selection goes, where an empty one changes nothing.

before:
    token, slot = torch.where(chosen == index)
    if token.numel() == 0:
        continue
    out[token] += expert(flat[token])
after, with `capture_dynamic_output_shape_ops`:
    token, slot = torch.where(chosen == index)
    out[token] += expert(flat[token])

Each statement after the check must only set or add to the selected items of a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer
from depyf.model.index_reader import Run

KINDS = ("break-data-dependent-branch", "break-dynamic-shape", "graph-break")
_ZERO = m.ComparisonTarget(m.Equal(), m.Integer("0"))
_COUNT = (
    m.Call(m.Attribute(m.Name(), m.Name("numel")), args=[])
    | m.Call(m.Name("len"), args=[m.Arg(m.Name())])
    | m.Subscript(m.Attribute(m.Name(), m.Name("shape")), slice=[m.SubscriptElement(m.Index(m.Integer("0")))])
    | m.Call(m.Attribute(m.Name(), m.Name("size")), args=[m.Arg(m.Integer("0"))])
)
_EMPTY = m.Comparison(_COUNT, comparisons=[_ZERO])
_CONTINUE = m.IndentedBlock([m.SimpleStatementLine([m.Continue()])]) | m.SimpleStatementSuite([m.Continue()])
_CHECK = m.If(test=_EMPTY, body=_CONTINUE, orelse=None)


@proposer
def unchecked_selections(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the removal of a check near the line of a finding."""
    where = finding.where
    if finding.kind not in KINDS or where is None:
        return
    what = "the check for an empty selection goes"
    # It is not instead of the switch for the size of the selection, but beside it.
    yield Edit(where.file, where.line, what, ("empty-selection", str(where)), without_check, is_quiet=True)


def without_check(module: cst.Module, line: int) -> cst.Module:
    """Return the module without the first check for an empty selection in the innermost loop that contains a line.

    Raises:
        RefusedError: there is none, or a statement after it does more than change selected items.
    """
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    loops = [
        node
        for node in m.findall(module, m.For(body=m.IndentedBlock()))
        if lines[node].start.line <= line <= lines[node].end.line
    ]
    if not loops:
        raise RefusedError("the line is in no loop")
    loop = cst.ensure_type(max(loops, key=lambda node: lines[node].start.line), cst.For)
    rows = list(loop.body.body)
    at = next((number for number, row in enumerate(rows) if m.matches(row, _CHECK)), None)
    if at is None:
        raise RefusedError("its loop has no check for an empty selection that goes on with the next round")
    checked = cst.ensure_type(rows[at], cst.If).test
    names = {cst.ensure_type(node, cst.Name).value for node in m.findall(checked, m.Name())} - {"len", "numel", "shape"}
    if not rows[at + 1 :] or not all(_changes_selected(row, names - {"size"}) for row in rows[at + 1 :]):
        raise RefusedError("a statement after the check does more than change selected items")
    body = loop.body.with_changes(body=[*rows[:at], *rows[at + 1 :]])
    changed = module.deep_replace(loop, loop.with_changes(body=body))
    assert isinstance(changed, cst.Module)
    return changed


def _changes_selected(row: cst.CSTNode, names: set[str]) -> bool:
    """Return whether a statement sets or adds to items of a tensor that one of some names selects, and nothing else."""
    selecting = m.SubscriptElement(m.Index(m.Name(m.MatchIfTrue(names.__contains__))))
    target = m.Subscript(m.Name(), slice=[m.ZeroOrMore(), selecting, m.ZeroOrMore()])
    added = m.Call(
        m.Attribute(m.Name(), m.Name("index_add_")),
        args=[m.Arg(), m.Arg(m.Name(m.MatchIfTrue(names.__contains__))), m.Arg()],
    )
    small = m.AugAssign(target=target) | m.Assign(targets=[m.AssignTarget(target)]) | m.Expr(added)
    return m.matches(row, m.SimpleStatementLine([small]))
