"""Edits that lower compile time: the blocks of a model are compiled, a region is reused, an option goes.

before:
    step = torch.compile(model, backend="inductor")
after:
    step = model
    for block in step.layers:
        block.compile(backend="inductor")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from depyf.fix.edit import RefusedError
from depyf.fix.savings_plan import WATCHED
from depyf.fix.trees import Statement, replace_statement, statement

Change = Callable[[cst.Module, int], cst.Module]
_COMPILE = m.Attribute(m.Name("torch"), m.Name("compile"))
_OPTIONS_OF_COMPILE = ("backend", "mode", "options", "dynamic", "fullgraph", "disable")


def compile_blocks(containers: Sequence[str], *, is_tried: bool, of_torch: bool = False) -> Change:
    """Return the edit that compiles the blocks in some containers instead of the module that holds them.

    Args:
        containers: the paths of the modules that hold the blocks, from the compiled module; "" for the module itself.
        is_tried: whether the results of the module are to be recorded in a try.
        of_torch: whether the class of the blocks is torch's. Dynamo leaves out such a module if its method `compile`
            asks, and not if its `forward` is compiled.
    """
    form = _Form(containers, is_tried, of_torch)

    def change(stmt: Statement) -> Sequence[Statement]:
        if not isinstance(stmt, cst.SimpleStatementLine) or len(stmt.body) != 1:
            raise RefusedError("the line is no plain statement")
        small = stmt.body[0]
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            return _of_method(small.value, form)
        return _of_call(stmt, small, form)

    return lambda module, line: replace_statement(module, line, change)


@dataclass(frozen=True)
class _Form:
    """The arguments of `compile_blocks`."""

    containers: Sequence[str]
    is_tried: bool
    of_torch: bool


def _of_method(call: cst.Call, form: _Form) -> list[Statement]:
    """Return what takes the place of `model.compile(...)`."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "compile" or not _is_path(call.func.value):
        raise RefusedError("the statement does not call `compile` of a named module")
    model = _code(call.func.value)
    return [*_loops(model, form, call.args), *([statement(f"{WATCHED}({model})")] if form.is_tried else [])]


def _of_call(stmt: cst.SimpleStatementLine, small: cst.BaseSmallStatement, form: _Form) -> list[Statement]:
    """Return what takes the place of a statement with `torch.compile(model, ...)`."""
    calls = [call for call in m.findall(small, m.Call(func=_COMPILE)) if isinstance(call, cst.Call)]
    if len(calls) != 1 or not calls[0].args or calls[0].args[0].keyword is not None or calls[0].args[0].star:
        raise RefusedError("the statement has no `torch.compile(model)`, or several")
    call = calls[0]
    given, options = call.args[0].value, call.args[1:]
    kept = cst.parse_expression(f"{WATCHED}({_code(given)})") if form.is_tried else given
    changed = stmt.deep_replace(call, kept)
    assert isinstance(changed, cst.SimpleStatementLine)
    if _is_path(given):
        return [*_loops(_code(given), form, options), changed]
    target = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
    if target is None or not _is_path(target) or not isinstance(small, cst.Assign) or small.value is not call:
        raise RefusedError("neither the model nor the compiled model has a plain name")
    return [changed, *_loops(_code(target), form, options)]


def _loops(model: str, form: _Form, options: Sequence[cst.Arg]) -> list[Statement]:
    for option in options:
        if option.star or option.keyword is None or option.keyword.value not in _OPTIONS_OF_COMPILE:
            raise RefusedError("an option of `torch.compile` is not written out")
    keywords = ", ".join(_code(option.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for option in options)
    loops = []
    for path in form.containers:
        blocks = f"{model}.{_indexed(path)}" if path else model
        more = f", {keywords}" if keywords else ""
        line = f"block.forward = torch.compile(block.forward{more})" if form.of_torch else f"block.compile({keywords})"
        loops.append(cst.parse_statement(f"for block in {blocks}:\n    {line}\n"))
    return [loop for loop in loops if isinstance(loop, cst.For)]


def _indexed(path: str) -> str:
    """Return a path of modules as an expression.

    >>> _indexed("stages.0.blocks")
    'stages[0].blocks'
    """
    first, *others = path.split(".")
    return first + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in others)


def _is_path(node: cst.CSTNode) -> bool:
    """Return whether an expression is a name, or attributes of a name."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def reuse_region(name: str) -> Change:
    """Return the edit that marks the `forward` of a class, by its name, as a region that torch compiles once."""

    def apply(module: cst.Module, line: int) -> cst.Module:
        marking = _Marking(name)
        changed = module.visit(marking)
        if marking.count != 1:
            raise RefusedError(f"the file defines no class `{name}` with a `forward` without decorators")
        return changed

    return apply


class _Marking(cst.CSTTransformer):
    """Puts the decorator before the `forward` of a class."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.count = 0

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:  # noqa: N802
        if original_node.name.value != self._name:
            return updated_node
        body = [self._marked(member) for member in updated_node.body.body]
        return updated_node.with_changes(body=updated_node.body.with_changes(body=body))

    def _marked(self, member: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(member, cst.FunctionDef) or member.name.value != "forward" or member.decorators:
            return member
        self.count += 1
        decorator = cst.Decorator(cst.parse_expression("torch.compiler.nested_compile_region"))
        return member.with_changes(decorators=[decorator])


def without_option(name: str) -> Change:
    """Return the edit that leaves out an option of the `torch.compile` at a line."""

    def change(stmt: Statement) -> Sequence[Statement]:
        calls = [call for call in m.findall(stmt, m.Call()) if isinstance(call, cst.Call) and _option(call, name)]
        if len(calls) != 1:
            raise RefusedError(f"no call of the line has `{name}`, or several")
        args = [arg for arg in calls[0].args if arg.keyword is None or arg.keyword.value != name]
        args[-1:] = [arg.with_changes(comma=cst.MaybeSentinel.DEFAULT) for arg in args[-1:]]
        changed = stmt.deep_replace(calls[0], calls[0].with_changes(args=args))
        assert isinstance(changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        return [changed]

    return lambda module, line: replace_statement(module, line, change)


def _option(call: cst.Call, name: str) -> bool:
    return any(arg.keyword is not None and arg.keyword.value == name for arg in call.args)


def without_statement(module: cst.Module, line: int) -> cst.Module:
    """Return the module without the statement at a line.

    Raises:
        RefusedError: no plain statement is there.
    """

    def change(stmt: Statement) -> Sequence[Statement]:
        if not isinstance(stmt, cst.SimpleStatementLine) or len(stmt.body) != 1:
            raise RefusedError("the line is no plain statement")
        return []

    return replace_statement(module, line, change)
