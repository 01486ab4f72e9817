"""A statement that breaks a graph becomes one that does not, or goes.

torch._dynamo.graph_break()    goes
y = copy.deepcopy(x)           y = x.clone()
y.data = x * 2                 y.copy_(x * 2)
x.t_()                         x = x.t()
n = x.max().item()             n = x.max().detach()
@torch.compiler.disable        goes from the function that the line calls
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer, subject_of, text_of
from depyf.fix.trees import Statement, in_brackets, replace_statement
from depyf.model.index_reader import Run

Change = Callable[[cst.Module, int], cst.Module]
_COPY = m.Call(func=m.Attribute(m.Name("copy"), m.Name("deepcopy")) | m.Name("deepcopy"), args=[m.Arg()])
_ITEM = m.Call(func=m.Attribute(attr=m.Name("item")), args=[]) | m.Call(m.Name("float"), args=[m.Arg()])
_DETACHED = m.Call(func=m.Attribute(attr=m.Name("detach")))
_BREAK = m.Expr(m.Call(m.Attribute(attr=m.Name("graph_break"))))
_DISABLE = m.Attribute(m.Attribute(m.Name("torch")), m.Name("disable"))


def without_break(module: cst.Module, line: int) -> cst.Module:
    """Remove an explicit graph break."""

    def change(stmt: Statement) -> Sequence[Statement]:
        if not m.matches(stmt, m.SimpleStatementLine(body=[_BREAK])):
            raise RefusedError("it is no statement of its own")
        return []

    return replace_statement(module, line, change)


def with_clone(module: cst.Module, line: int) -> cst.Module:
    """Copy a tensor by `clone`."""
    return _expression(module, line, _COPY, lambda call: cst.Call(cst.Attribute(call.args[0].value, cst.Name("clone"))))


def with_tensor(module: cst.Module, line: int) -> cst.Module:
    """Keep a number as a tensor of one element."""

    def kept(call: cst.Call) -> cst.BaseExpression:
        value = call.func.value if isinstance(call.func, cst.Attribute) else call.args[0].value
        # A number has no gradient.
        return value if m.matches(value, _DETACHED) else cst.Call(cst.Attribute(in_brackets(value), cst.Name("detach")))

    return _expression(module, line, _ITEM, kept)


def with_copy(module: cst.Module, line: int) -> cst.Module:
    """Set the values of a tensor by `copy_`."""

    def change(stmt: Statement) -> Sequence[Statement]:
        target = m.Attribute(m.Name(), m.Name("data"))
        inside = stmt.body[0] if isinstance(stmt, cst.SimpleStatementLine) and len(stmt.body) == 1 else None
        if not isinstance(inside, cst.Assign) or not m.matches(inside, m.Assign(targets=[m.AssignTarget(target)])):
            raise RefusedError("it is no plain assignment to `.data` of a name")
        owner = cst.ensure_type(inside.targets[0].target, cst.Attribute).value
        call = cst.Call(cst.Attribute(owner, cst.Name("copy_")), [cst.Arg(inside.value)])
        return [stmt.with_changes(body=[cst.Expr(call)])]

    return replace_statement(module, line, change)


def with_view(module: cst.Module, line: int) -> cst.Module:
    """Give a name the view that it gets in place."""

    def change(stmt: Statement) -> Sequence[Statement]:
        in_place = m.Expr(m.Call(m.Attribute(m.Name(), m.Name(m.MatchIfTrue(lambda name: name.endswith("_"))))))
        if not isinstance(stmt, cst.SimpleStatementLine) or not m.matches(stmt, m.SimpleStatementLine([in_place])):
            raise RefusedError("it is no statement that reshapes a name in place")
        call = cst.ensure_type(cst.ensure_type(stmt.body[0], cst.Expr).value, cst.Call)
        function = cst.ensure_type(call.func, cst.Attribute)
        plain = function.with_changes(attr=cst.Name(function.attr.value.removesuffix("_")))
        owner = cst.ensure_type(function.value, cst.Name)
        return [stmt.with_changes(body=[cst.Assign([cst.AssignTarget(owner)], call.with_changes(func=plain))])]

    return replace_statement(module, line, change)


def left_out(module: cst.Module, line: int) -> list[cst.FunctionDef]:
    """Return the functions under `torch.compiler.disable` whose names the statement at a line calls."""
    called: set[str] = set()

    def note(stmt: Statement) -> Sequence[Statement]:
        called.update(cst.Module([]).code_for_node(call.func).rpartition(".")[2] for call in m.findall(stmt, m.Call()))  # type: ignore[attr-defined]
        return [stmt]

    with contextlib.suppress(RefusedError):
        replace_statement(module, line, note)
    functions = m.findall(module, m.FunctionDef())
    return [
        function
        for function in functions
        if isinstance(function, cst.FunctionDef)
        and function.name.value in called
        and any(map(_is_disable, function.decorators))
    ]


def without_disable(module: cst.Module, _: int, name: str) -> cst.Module:
    """Remove `torch.compiler.disable` from the functions of a name.

    Args:
        module: the syntax tree of the user's file.
        _: the line, which is not needed.
        name: the name of the functions.

    Raises:
        RefusedError: the file does not define such a function.
    """
    visitor = _Enabled(name)
    changed = module.visit(visitor)
    if not visitor.count:
        raise RefusedError("the file does not define the function that is left out")
    return changed


class _Enabled(cst.CSTTransformer):
    """Removes the decorator from functions of a name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.count = 0

    def leave_FunctionDef(  # noqa: N802 - LibCST's name
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        kept = [decorator for decorator in updated_node.decorators if not _is_disable(decorator)]
        if original_node.name.value != self._name or len(kept) == len(updated_node.decorators):
            return updated_node
        self.count += 1
        return updated_node.with_changes(decorators=kept)


def _is_disable(decorator: cst.Decorator) -> bool:
    return m.matches(decorator.decorator, _DISABLE | m.Call(_DISABLE, args=[]))


def _expression(
    module: cst.Module, line: int, wanted: m.Call | m.OneOf[m.Call], change: Callable[[cst.Call], cst.BaseExpression]
) -> cst.Module:
    """Replace the calls of a kind in the statement at a line."""

    def replaced(stmt: Statement) -> Sequence[Statement]:
        if not isinstance(stmt, cst.SimpleStatementLine) or not m.findall(stmt, wanted):
            raise RefusedError("its statement has no such call")

        def by(node: cst.CSTNode, _: object) -> cst.BaseExpression:
            assert isinstance(node, cst.Call)
            return change(node)

        changed = m.replace(stmt, wanted, by)
        assert isinstance(changed, cst.SimpleStatementLine)
        return [changed]

    return replace_statement(module, line, replaced)


REWRITES: dict[str, tuple[str, Change]] = {
    "break-explicit": ("`torch._dynamo.graph_break()` goes", without_break),
    "break-deepcopy": ("`copy.deepcopy` becomes `clone`", with_clone),
    "break-data-attribute": ("`.data =` becomes `copy_`", with_copy),
    "break-inplace-view": ("the name gets a view, and is not reshaped in place", with_view),
    "break-item": ("the number stays a tensor, without `.item()`", with_tensor),
}
"""The rewrite for each kind of break."""


@proposer
def rewrites(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the other form of a statement that breaks a graph."""
    where = finding.where
    if where is None or finding.kind not in REWRITES:
        return
    what, change = REWRITES[finding.kind]
    yield Edit(where.file, where.line, what, subject_of(finding), change)


@proposer
def enabled(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the removal of `torch.compiler.disable` from a function that a line calls."""
    where = finding.where
    if where is None or finding.kind != "break-disabled":
        return
    module = cst.parse_module(text_of(run, where.file))
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for function in left_out(module, where.line):
        name, line = function.name.value, lines[function.decorators[0]].start.line
        what = f"`{name}` is compiled, without `torch.compiler.disable`"
        yield Edit(where.file, line, what, subject_of(finding), partial(without_disable, name=name))
