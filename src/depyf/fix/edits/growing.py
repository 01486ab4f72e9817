"""A list or dict of the module that grows in each call grows after the graph instead.

before, in the compiled function:
    HISTORY.append(y.mean())
after, below the function:
    def keep_7(y):
        HISTORY.append(y)
and in the place of the statement:
    keep_7(y.mean())

torch calls such a function after the graph, like a report, so that the graph does not read the list. The function must
not use the list otherwise. All its growths in the function move at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, event_of, kinds_of, proposer, subject_of, text_of
from depyf.fix.trees import (
    Statement,
    after_definition_of,
    after_import_of_torch,
    names_of_module,
    replace_statement,
    statement,
)
from depyf.model.index_reader import Run

KINDS = frozenset(("growing-container", "dict-filled-in-call", "dict-keys"))


@proposer
def kept_after(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the move of each growth of a list or dict of the module in the compiled function."""
    event = event_of(run, finding)
    if event is None or KINDS.isdisjoint(kinds_of(event, finding)):
        return
    function = event.cause.function
    for line, name in _growths(text_of(run, function.filename), function.first_line):
        what = f"`{name}` grows after the graph"
        yield Edit(function.filename, line, what, subject_of(finding), grown_after, is_quiet=True)


def _growths(text: str, first_line: int) -> list[tuple[int, str]]:
    """Return the lines of a function at which it appends to a name or sets an item of it, with the name."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    growths = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        # A code object begins at the first decorator.
        if min((decorator.lineno for decorator in function.decorator_list), default=function.lineno) != first_line:
            continue
        for node in ast.walk(function):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
                owner: ast.expr = call.func.value
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                owner = node.targets[0].value
            else:
                continue
            if isinstance(owner, ast.Name):
                growths.append((owner.lineno, owner.id))
    return growths


def grown_after(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the growth at a line in a function that torch calls after the graph.

    Raises:
        RefusedError: it is no growth of a list or dict of the module, the function uses that elsewhere too, or the file
            does not import torch.
    """
    after_import_of_torch(module, f"keep_{line}")  # refuses a file without torch
    owners: list[str] = []

    def note(stmt: Statement) -> Sequence[Statement]:
        owners.append(_growth(stmt)[0])
        return [stmt]

    replace_statement(module, line, note)
    definition, first = _definition(module, line)
    growths = _growths(module.code, first)
    lines = sorted({number for number, name in growths if name == owners[0]}, reverse=True)
    uses = len(m.findall(definition, m.Name(owners[0])))
    if owners[0] not in names_of_module(module) or uses != len(lines):
        raise RefusedError(f"`{owners[0]}` is not of the module, or the function reads it")
    for number in lines:
        module = _moved(module, number)
    return module


def _moved(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the growth at a line in a function of its own, below the one that has it."""
    kept: list[str] = []

    def change(stmt: Statement) -> Sequence[Statement]:
        owner, given, form = _growth(stmt)
        names = [f"value_{at}" for at in range(len(given))]
        kept.append(f"@torch.compiler.disable\ndef keep_{line}({', '.join(names)}):\n    {form.format(*names)}\n")
        arguments = ", ".join(module.code_for_node(value) for value in given)
        return [statement(f"keep_{line}({arguments})").with_changes(leading_lines=stmt.leading_lines)]

    changed = replace_statement(module, line, change)
    blank = [cst.EmptyLine(indent=False)] * 2
    registered = statement(f"torch._dynamo.config.reorderable_logging_functions.add(keep_{line})")
    added = [cst.parse_statement(kept[0]), registered]
    return after_definition_of(changed, line, [new.with_changes(leading_lines=blank) for new in added])


def _growth(stmt: Statement) -> tuple[str, list[cst.BaseExpression], str]:
    """Return the list or dict that a statement adds to, the values it adds, and the statement's form."""
    inside = stmt.body[0] if isinstance(stmt, cst.SimpleStatementLine) and len(stmt.body) == 1 else None
    if inside is not None and m.matches(inside, _APPEND):
        call = cst.ensure_type(cst.ensure_type(inside, cst.Expr).value, cst.Call)
        owner = cst.ensure_type(cst.ensure_type(call.func, cst.Attribute).value, cst.Name).value
        return owner, [call.args[0].value], f"{owner}.append({{}})"
    if inside is not None and m.matches(inside, _SET):
        assign = cst.ensure_type(inside, cst.Assign)
        target = cst.ensure_type(assign.targets[0].target, cst.Subscript)
        owner = cst.ensure_type(target.value, cst.Name).value
        key = cst.ensure_type(target.slice[0].slice, cst.Index).value
        return owner, [key, assign.value], f"{owner}[{{}}] = {{}}"
    raise RefusedError("it neither appends to a name nor sets an item of it")


_APPEND = m.Expr(m.Call(m.Attribute(m.Name(), m.Name("append")), args=[m.Arg(star="")]))
_SET = m.Assign(
    targets=[m.AssignTarget(m.Subscript(m.Name(), slice=[m.SubscriptElement(m.Index())]))],
)


def _definition(module: cst.Module, line: int) -> tuple[cst.CSTNode, int]:
    """Return the function that contains a line, and the line of its first decorator or of its name.

    Raises:
        RefusedError: the line is in no function, or in one inside of another.
    """
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    functions = [
        function
        for function in m.findall(module, m.FunctionDef())
        if lines[function].start.line <= line <= lines[function].end.line
    ]
    if len(functions) != 1:
        raise RefusedError("the line is not in one function")
    function = cst.ensure_type(functions[0], cst.FunctionDef)
    return function, min(lines[node].start.line for node in (function, *function.decorators))
