"""A list or dict of the module that grows in each call grows after the graph instead.

before, in the compiled function:
    HISTORY.append(y.mean())
after, below the function:
    def keep_7(y):
        HISTORY.append(y)
and in the place of the statement:
    keep_7(y.mean())

torch calls such a function after the graph, like a report, so that the graph does not read the list. The function must
not use the list otherwise. All its growths in the function move at once. A list of a module grows in a leaf function of
torch's, which gets the module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, event_of, kinds_of, proposer, subject_of, text_of
from depyf.fix.edits.reports import DISABLED, FAKE, LEAF
from depyf.fix.trees import (
    Statement,
    after_definition_of,
    after_import_of_torch,
    names_of_module,
    replace_statement,
    statement,
    without_item,
)
from depyf.model.index_reader import Run

KINDS = frozenset(("growing-container", "dict-filled-in-call", "dict-keys"))


@proposer
def kept_after(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the move of each growth of a list or dict of the module in the compiled function."""
    where = finding.where
    if finding.kind == "break-item" and where is not None:
        text = text_of(run, where.file)
        for line, name in _growths(text, _first_line(text, where.line)):
            if line == where.line:
                yield _edit(finding, where.file, line, name)
    event = event_of(run, finding)
    if event is None or KINDS.isdisjoint(kinds_of(event, finding)):
        return
    function = event.cause.function
    for line, name in _growths(text_of(run, function.filename), function.first_line):
        yield _edit(finding, function.filename, line, name)


def _edit(finding: Finding, file: str, line: int, name: str) -> Edit:
    what, subject = f"`{name}` grows after the graph", subject_of(finding)
    in_root = None if name.startswith("self.") else lambda _, at: [at]
    return Edit(file, line, what, subject, grown_after, is_quiet=True, in_root=in_root)


def _first_line(text: str, line: int) -> int:
    """Return the first line of the innermost function that contains a line, with its decorators; 0 for none."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return 0
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    firsts = [
        min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
        for node in functions
        if node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(firsts, default=0)


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
            line = owner.lineno
            # An item of a dict of lists grows like a list.
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            if isinstance(owner, ast.Name):
                growths.append((line, owner.id))
            elif isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id == "self":
                growths.append((line, f"self.{owner.attr}"))
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
        owners.append(_root(_growth(stmt)[0]))
        return [stmt]

    replace_statement(module, line, note)
    definition, first = _definition(module, line)
    growths = _growths(module.code, first)
    lines = sorted({number for number, name in growths if name == owners[0]}, reverse=True)
    is_attribute = owners[0].startswith("self.")
    used = m.Attribute(m.Name("self"), m.Name(owners[0].partition(".")[2])) if is_attribute else m.Name(owners[0])
    is_known = is_attribute or owners[0] in names_of_module(module)
    if not is_known or len(m.findall(definition, used)) != len(lines):
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
        # Where a number was taken from a tensor, the function below takes it.
        plain = [without_item(value) for value in given]
        values = [
            name if new.deep_equals(value) else f"{name}.item()"
            for name, value, new in zip(names, given, plain, strict=True)
        ]
        body = form.format(*values)
        arguments = [module.code_for_node(value) for value in plain]
        if owner.startswith("self."):
            # torch passes a module to a leaf function alone.
            names, arguments, body = ["module", *names], ["self", *arguments], body.replace("self.", "module.", 1)
        for template in (LEAF, FAKE) if owner.startswith("self.") else (DISABLED,):
            kept.append(template.format(f"keep_{line}", ", ".join(names), f"    {body}"))
        return [statement(f"keep_{line}({', '.join(arguments)})").with_changes(leading_lines=stmt.leading_lines)]

    changed = replace_statement(module, line, change)
    blank = [cst.EmptyLine(indent=False)] * 2
    registered = statement(f"torch._dynamo.config.reorderable_logging_functions.add(keep_{line})")
    definitions = [cst.parse_statement(text) for text in kept]
    added = definitions if len(definitions) > 1 else [*definitions, registered]
    return after_definition_of(changed, line, [new.with_changes(leading_lines=blank) for new in added])


def _growth(stmt: Statement) -> tuple[str, list[cst.BaseExpression], str]:
    """Return the list or dict that a statement adds to, the values it adds, and the statement's form."""
    inside = stmt.body[0] if isinstance(stmt, cst.SimpleStatementLine) and len(stmt.body) == 1 else None
    if inside is not None and m.matches(inside, _APPEND):
        call = cst.ensure_type(cst.ensure_type(inside, cst.Expr).value, cst.Call)
        owner = cst.Module([]).code_for_node(cst.ensure_type(call.func, cst.Attribute).value)
        return owner, [call.args[0].value], f"{owner}.append({{}})"
    if inside is not None and m.matches(inside, _SET):
        assign = cst.ensure_type(inside, cst.Assign)
        target = cst.ensure_type(assign.targets[0].target, cst.Subscript)
        owner = cst.Module([]).code_for_node(target.value)
        key = cst.ensure_type(target.slice[0].slice, cst.Index).value
        return owner, [key, assign.value], f"{owner}[{{}}] = {{}}"
    raise RefusedError("it neither appends to a name nor sets an item of it")


def _root(owner: str) -> str:
    """Return the name of the list or dict of which an owner may be an item, as in `HISTORY["loss"]`."""
    return owner.partition("[")[0]


_CONSTANT = m.SubscriptElement(m.Index(m.SimpleString() | m.Integer()))
_ROOT = m.Name() | m.Attribute(m.Name("self"), m.Name())
_OWNER = _ROOT | m.Subscript(_ROOT, slice=[_CONSTANT])
_APPEND = m.Expr(m.Call(m.Attribute(_OWNER, m.Name("append")), args=[m.Arg(star="")]))
_SET = m.Assign(targets=[m.AssignTarget(m.Subscript(_OWNER, slice=[m.SubscriptElement(m.Index())]))])


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
