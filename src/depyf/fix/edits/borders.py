"""The border of `torch.compile` moves inward or outward.

Inward: the block that a function calls in its loop is compiled, and not the function.

before:
    @torch.compile
    def solve(x):
        while x.norm() > 1:
            x = block(x)
        return x
after:
    def solve(x):
        while x.norm() > 1:
            x = block(x)
        return x
and above the block:
    @torch.compile

Outward: the function that calls the compiled one in a loop is compiled, and its loop becomes a part of the graph. What
changes from call to call is a constant there.

Below decorators: a decorator that measures the time, or counts, stays outside of the graph.

before:
    @timed
    def forward(x): ...
    fast = torch.compile(forward)
after:
    @timed
    @torch.compile
    def forward(x): ...
    fast = forward

They are the last edits for a finding. The calls of what is compiled then are compared with those of the edited program
without any compile.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, call_of, event_of, proposer, subject_of, text_of
from depyf.fix.trees import COMPILING, compiled_names, enclosing_function
from depyf.model.index_reader import Run

_COMPILE = m.Attribute(m.Name("torch"), m.Name("compile"))
KINDS = ("break-", "graph-break", "number-in-condition", "counter-in-condition", "tensor-size-specialized")


@proposer
def moved_inward(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the move of the border to the block that a loop of the compiled function calls."""
    if not finding.kind.startswith(KINDS):
        return
    event, where = event_of(run, finding), finding.where
    function = event.cause.function if event is not None else None
    file = function.filename if function is not None else where.file if where is not None else ""
    line = function.first_line if function is not None else where.line if where is not None else 0
    if not file or not text_of(run, file):
        return
    what = "the block in the loop is compiled, not the loop"
    yield Edit(file, line, what, subject_of(finding), inward, moves_border=True, is_quiet=True)


@proposer
def moved_below_decorators(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the move of the border below the decorators of the compiled function."""
    where = finding.where
    if finding.kind.startswith("break-") and where is not None and text_of(run, where.file):
        what = "the function is compiled without its decorators, which stay around it"
        yield Edit(
            where.file,
            0,
            what,
            subject_of(finding),
            below_decorators,
            is_of_file=True,
            moves_border=True,
            is_quiet=True,
        )


@proposer
def moved_outward(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the move of the border to the function that calls the compiled one again and again."""
    event = event_of(run, finding)
    if event is None:
        return
    calls = [call_of(compiled) for _, compiled in event.compiles]
    what = "the function with the loop is compiled, not the block in it"
    for place in dict.fromkeys((call.filename, call.line) for call in calls[-1:] if call is not None):
        yield Edit(*place, what, subject_of(finding), outward, moves_border=True, is_quiet=True)


def outward(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the function compiled that calls a compiled one at a line, in a loop.

    Raises:
        RefusedError: the call is in no loop of a function of the file, calls no single compiled function of the file,
            or the function with the loop compiles something itself.
    """
    function = enclosing_function(module, line)
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    loops = [
        node
        for node in m.findall(function, m.For() | m.While())
        if lines[node].start.line <= line <= lines[node].end.line
    ]
    if not loops or m.findall(function, COMPILING):
        raise RefusedError("the call is in no loop, or its function compiles something itself")
    called = {
        cst.ensure_type(cst.ensure_type(node, cst.Call).func, cst.Name).value
        for node in m.findall(function, m.Call(m.Name()))
        if lines[node].start.line <= line <= lines[node].end.line
    }
    definitions = [node.name.value for node in module.body if isinstance(node, cst.FunctionDef)]
    blocks = [name for name in definitions if _compiled(module, name) & called and name != function.name.value]
    if len(blocks) != 1:
        raise RefusedError(f"the line calls {len(blocks)} compiled functions of the file, not one")
    changed = module.visit(_Moved(blocks[0], function.name.value))
    assert isinstance(changed, cst.Module)
    return changed


def _compiled(module: cst.Module, name: str) -> frozenset[str]:
    """Return the names of the compiled form of a function, or none."""
    try:
        return compiled_names(module, name)
    except RefusedError:
        return frozenset()


def inward(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the block compiled that the function at a line calls in a loop.

    Raises:
        RefusedError: the function is not compiled by name, or its loops call no single function of the file.
    """
    function = enclosing_function(module, line)
    compiled_names(module, function.name.value)
    definitions = {
        definition.name.value: definition for definition in module.body if isinstance(definition, cst.FunctionDef)
    }
    loops = m.findall(function, m.For() | m.While())
    called = {
        call.func.value  # type: ignore[attr-defined]
        for loop in loops
        for call in m.findall(loop, m.Call(m.Name()))
    }
    blocks = sorted(called & set(definitions) - {function.name.value})
    if len(blocks) != 1:
        raise RefusedError(f"its loops call {len(blocks)} functions of the file, not one")
    if any(m.matches(decorator.decorator, COMPILING) for decorator in definitions[blocks[0]].decorators):
        raise RefusedError(f"`{blocks[0]}` is compiled already")
    changed = module.visit(_Moved(function.name.value, blocks[0]))
    assert isinstance(changed, cst.Module)
    return changed


def below_decorators(module: cst.Module, _: int = 0) -> cst.Module:
    """Return the module with the one compiled function that has decorators of the file compiled below these.

    Raises:
        RefusedError: there is none, or more than one.
    """
    names = [
        node.name.value
        for node in module.body
        if isinstance(node, cst.FunctionDef)
        and _compiled(module, node.name.value)
        and any(not m.matches(decorator.decorator, COMPILING) for decorator in node.decorators)
    ]
    if len(names) != 1:
        raise RefusedError(f"the file compiles {len(names)} functions with decorators, not one")
    changed = module.visit(_Below(names[0], names[0]))
    assert isinstance(changed, cst.Module)
    return changed


class _Moved(cst.CSTTransformer):
    """Takes `torch.compile` from a function, with its options, and gives it to another."""

    def __init__(self, function: str, block: str) -> None:
        super().__init__()
        self._function, self._block = function, block
        self._decorator: cst.BaseExpression = cst.parse_expression("torch.compile")

    def visit_Module(self, node: cst.Module) -> None:  # noqa: N802 - LibCST's name
        """Find the options, before the first change."""
        for call in m.findall(node, m.Call(_COMPILE, [m.Arg(m.Name(self._function)), m.ZeroOrMore()])):
            options = cst.ensure_type(call, cst.Call).args[1:]
            self._decorator = cst.Call(self._decorator, options) if options else self._decorator
        for definition in m.findall(node, m.FunctionDef(m.Name(self._function))):
            for decorator in cst.ensure_type(definition, cst.FunctionDef).decorators:
                if m.matches(decorator.decorator, COMPILING):
                    self._decorator = decorator.decorator

    def leave_FunctionDef(  # noqa: N802 - LibCST's name
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        """Take or add the decorator."""
        name = original_node.name.value
        if name == self._function:
            kept = [decorator for decorator in updated_node.decorators if not m.matches(decorator.decorator, COMPILING)]
            return updated_node.with_changes(decorators=kept)
        if name == self._block:
            added = cst.Decorator(self._decorator)
            return updated_node.with_changes(decorators=[added, *updated_node.decorators])
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        """Use the function as it is, where it was compiled."""
        if m.matches(original_node, m.Call(_COMPILE, [m.Arg(m.Name(self._function)), m.ZeroOrMore()])):
            return updated_node.args[0].value
        return updated_node


class _Below(_Moved):
    """Takes `torch.compile` from a function with decorators, and gives it to the function below them."""

    def leave_FunctionDef(  # noqa: N802 - LibCST's name
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        """Make it the last decorator."""
        if original_node.name.value != self._function:
            return updated_node
        kept = [decorator for decorator in updated_node.decorators if not m.matches(decorator.decorator, COMPILING)]
        return updated_node.with_changes(decorators=[*kept, cst.Decorator(self._decorator)])
