"""Marks of dimensions that change: before the call where the argument has a name, else for the whole function.

before:
    loss = step(batch)
after:
    torch._dynamo.mark_dynamic(batch, 0)
    loss = step(batch)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.findings.events import Event
from depyf.fix.edit import Edit, RefusedError, call_of, event_of, kinds_of, proposer
from depyf.fix.trees import Statement, replace_statement, statement
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.index_reader import Run

SIZES = frozenset(("tensor-size", "symbolic-shape", "tensor-size-inside"))


@proposer
def marked_dimensions(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield a mark before the user's call, and `dynamic=True`, for a size that changes."""
    event = event_of(run, finding)
    if event is None or SIZES.isdisjoint(kinds_of(event, finding)):
        return
    for compiled, failure in zip(event.cause.compiles, event.cause.failures, strict=True):
        dimension = _dimension(failure)
        call = call_of(compiled)
        position = parameter(run, event, failure)
        if dimension is not None and call is not None and position is not None:
            yield _mark(finding, call.filename, call.line, position, dimension)
            break
    if any(compiled.is_static for compiled in event.cause.compiles):
        yield _not_static(finding, event)
    else:
        yield _dynamic(finding, event)


def _subject(finding: Finding) -> tuple[str, str]:
    return "tensor-size", str(finding.where)


def _dimension(failure: GuardFailure) -> int | None:
    """Return the first dimension that differs, or None if it is no size."""
    if failure.check is not Check.SIZE:
        return failure.dimension if failure.dimension >= 0 else None
    try:
        expected, other = ast.literal_eval(failure.expected), ast.literal_eval(failure.actual)
    except (ValueError, SyntaxError):
        return None
    return next((at for at, pair in enumerate(zip(expected, other)) if pair[0] != pair[1]), None)


def first_sizes(failure: GuardFailure) -> tuple[int, int] | None:
    """Return the size of dimension 0 that a compile was made for, and that of the call; None if it did not differ."""
    try:
        pair = [ast.literal_eval(text) for text in (failure.expected, failure.actual)]
    except (ValueError, SyntaxError):
        return None
    if failure.check is Check.SIZE and all(isinstance(sizes, (tuple, list)) and sizes for sizes in pair):
        pair = [sizes[0] for sizes in pair]
    elif failure.dimension != 0:
        return None
    return (pair[0], pair[1]) if all(isinstance(size, int) for size in pair) and pair[0] != pair[1] else None


def parameter(run: Run, event: Event, failure: GuardFailure) -> tuple[int, str] | None:
    """Return the position and the name of the parameter that the value is, or None for another value.

    Args:
        run: the run, with the user's sources.
        event: the recompiles and their cause.
        failure: the guard that failed, with torch's expression for the value.
    """
    source = ast.parse(failure.source or "None", mode="eval").body if failure.source else None
    is_local = isinstance(source, ast.Subscript) and isinstance(source.value, ast.Name) and source.value.id == "L"
    if not is_local or not isinstance(source.slice, ast.Constant):  # type: ignore[union-attr]
        return None
    name = str(source.slice.value)  # type: ignore[union-attr]
    names = _parameters(run, event)
    return (names.index(name), name) if name in names else None


def _parameters(run: Run, event: Event) -> list[str]:
    """Return the names of the function's parameters without `self`, from its source."""
    try:
        tree = ast.parse(run.text(run.session.sources.get(event.cause.function.filename, "")))
    except SyntaxError:
        return []
    for node in ast.walk(tree):
        first = min(
            (decorator.lineno for decorator in getattr(node, "decorator_list", ())), default=getattr(node, "lineno", 0)
        )
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and first == event.cause.function.first_line:
            names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
            return names[1:] if names[:1] == ["self"] else names
    return []


def _mark(finding: Finding, file: str, line: int, parameter: tuple[int, str], dimension: int) -> Edit:
    position, name = parameter

    def change(stmt: Statement) -> Sequence[Statement]:
        names = arguments_of(stmt, position, name)
        if len(names) != 1:
            raise RefusedError(f"the line passes `{name}` not as one plain name")
        return [statement(f"torch._dynamo.mark_dynamic({names[0]}, {dimension})"), stmt]

    def apply(module: cst.Module, line: int) -> cst.Module:
        return replace_statement(module, line, change)

    return Edit(file, line, f"mark_dynamic({name}, {dimension}) before the call", _subject(finding), apply)


def arguments_of(stmt: cst.CSTNode, position: int, name: str) -> list[str]:
    """Return the plain names that calls in a statement pass for a parameter.

    Args:
        stmt: the statement.
        position: the position of the parameter.
        name: the name of the parameter.
    """
    names = []
    for call in m.findall(stmt, m.Call()):
        assert isinstance(call, cst.Call)
        given = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name]
        at = call.args[position : position + 1]
        given = given or [arg.value for arg in at if not arg.star and not arg.keyword]
        # A call of a function of torch's is not the call of compiled code.
        head = cst.Module([]).code_for_node(call.func).partition(".")[0]
        if given and isinstance(given[0], cst.Name) and head not in ("torch", "print", "range", "len"):
            names.append(given[0].value)
    return names


class _Dynamic(cst.CSTTransformer):
    """Adds `dynamic=True` to each `torch.compile` of a module that does not say `dynamic`."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        if m.matches(original_node.func, _COMPILE) and not _has(updated_node, "dynamic"):
            self.count += 1
            return updated_node.with_changes(args=[*updated_node.args, _TRUE])
        return updated_node

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> cst.Decorator:  # noqa: N802
        if m.matches(original_node.decorator, _COMPILE):
            self.count += 1
            return updated_node.with_changes(decorator=cst.Call(updated_node.decorator, [_TRUE]))
        return updated_node


class _NotStatic(cst.CSTTransformer):
    """Removes `dynamic=False` from each `torch.compile` of a module."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        if not m.matches(original_node.func, _COMPILE):
            return updated_node
        kept = [arg for arg in updated_node.args if not m.matches(arg, _FALSE)]
        if len(kept) == len(updated_node.args):
            return updated_node
        self.count += 1
        return updated_node.with_changes(args=[*kept[:-1], *(arg.with_changes(comma=_NO_COMMA) for arg in kept[-1:])])


_NO_COMMA = cst.MaybeSentinel.DEFAULT
_FALSE = m.Arg(keyword=m.Name("dynamic"), value=m.Name("False"))
_COMPILE = m.Attribute(m.Name("torch"), m.Name("compile"))
_NO_SPACE = cst.SimpleWhitespace("")
_TRUE = cst.Arg(cst.Name("True"), cst.Name("dynamic"), cst.AssignEqual(_NO_SPACE, _NO_SPACE))


def _has(call: cst.Call, name: str) -> bool:
    return any(arg.keyword is not None and arg.keyword.value == name for arg in call.args)


def _dynamic(finding: Finding, event: Event) -> Edit:
    return _of_file(finding, event, _Dynamic, "torch.compile(..., dynamic=True)", "without `dynamic`")


def _not_static(finding: Finding, event: Event) -> Edit:
    return _of_file(finding, event, _NotStatic, "torch.compile(...) without dynamic=False", "with `dynamic=False`")


def _of_file(finding: Finding, event: Event, transformer: type[_Dynamic | _NotStatic], what: str, which: str) -> Edit:
    def apply(module: cst.Module, _: int) -> cst.Module:
        visitor = transformer()
        changed = module.visit(visitor)
        if not visitor.count:
            raise RefusedError(f"the file has no call of `torch.compile` {which}")
        return changed

    function = event.cause.function
    return Edit(function.filename, function.first_line, what, _subject(finding), apply, is_of_file=True)
