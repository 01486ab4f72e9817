"""A print, log or warning inside of a graph becomes a function that Dynamo calls after the graph.

before:
    print(f"loss {loss.item():.3f} at {self.name}")
after, below the function that prints:
    @torch.compiler.disable
    def report_31(loss, name):
        print(f"loss {loss.item():.3f} at {name}")


    torch._dynamo.config.reorderable_logging_functions.add(report_31)
and in the place of the statement:
    report_31(loss, self.name)

Without `disable`, Dynamo would compile the report itself. Dynamo passes tensors and constants to such a function, and
refuses others. A tensor that is changed in place after the statement is printed changed: the comparison of the output
decides.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer, subject_of
from depyf.fix.trees import (
    Statement,
    after_definition_of,
    after_import_of_torch,
    enclosing_function,
    names_of_module,
    replace_statement,
    statement,
)
from depyf.model.index_reader import Run

KINDS = frozenset(("break-print", "break-logging", "break-warning", "break-text-of-tensor", "break-item"))
CALLED = frozenset(("print", "info", "debug", "warning", "warn", "error", "exception", "critical", "log", "write"))


@proposer
def reports(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the function for a statement that reports something."""
    where = finding.where
    if finding.kind not in KINDS or where is None:
        return
    what = "the report becomes a function that torch calls after the graph"
    yield Edit(where.file, where.line, what, subject_of(finding), reported)
    what = "the function that only reports is called after the graph"
    yield Edit(where.file, where.line, what, subject_of(finding), reporter_after, is_quiet=True)


def reported(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the statement at a line as a function of its own.

    Raises:
        RefusedError: it is no plain call that reports something, or the file does not import torch.
    """
    after_import_of_torch(module, f"report_{line}")  # refuses a file without torch
    known = names_of_module(module) | set(dir(builtins))
    definitions: list[str] = []

    def change(stmt: Statement) -> Sequence[Statement]:
        call = _call(stmt)
        inside = _Parameters(known)
        body = call.visit(inside)
        assert isinstance(body, cst.Call)
        code = module.code_for_node(body)
        definitions.append(f"@torch.compiler.disable\ndef report_{line}({', '.join(inside.given)}):\n    {code}\n")
        new = statement(f"report_{line}({', '.join(inside.given.values())})")
        return [new.with_changes(leading_lines=stmt.leading_lines)]

    changed = replace_statement(module, line, change)
    registered = f"torch._dynamo.config.reorderable_logging_functions.add(report_{line})"
    blank = [cst.EmptyLine(indent=False)] * 2
    added = [cst.parse_statement(definitions[0]), statement(registered)]
    return after_definition_of(changed, line, [new.with_changes(leading_lines=blank) for new in added])


def reporter_after(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the function that contains a line called after the graph, if all that it does is report.

    torch loses the reports of a function that Dynamo inlines, so that a report in it cannot be moved alone.

    Raises:
        RefusedError: the function does something else, its result is used, or it is compiled itself.
    """
    after_import_of_torch(module, f"report_{line}")  # refuses a file without torch
    function = enclosing_function(module, line)
    name = function.name.value
    rows = [row for row in function.body.body if not m.matches(row, _DOCSTRING)]
    for row in rows:
        if not isinstance(row, cst.SimpleStatementLine):
            raise RefusedError("the function does more than report")
        _call(row)
    calls = m.findall(module, m.Expr(m.Call(m.Name(name))))
    if not calls or len(calls) + 1 != len(m.findall(module, m.Name(name))):
        raise RefusedError("the function is used otherwise than in statements that call it")
    disabled = cst.Decorator(cst.parse_expression("torch.compiler.disable"))
    changed = module.deep_replace(function, function.with_changes(decorators=[disabled, *function.decorators]))
    assert isinstance(changed, cst.Module)
    registered = statement(f"torch._dynamo.config.reorderable_logging_functions.add({name})")
    blank = [cst.EmptyLine(indent=False)] * 2
    return after_definition_of(changed, line, [registered.with_changes(leading_lines=blank)])


_DOCSTRING = m.SimpleStatementLine(body=[m.Expr(m.SimpleString())])


def _call(stmt: Statement) -> cst.Call:
    inside = stmt.body if isinstance(stmt, cst.SimpleStatementLine) else ()
    if len(inside) != 1 or not isinstance(inside[0], cst.Expr) or not isinstance(inside[0].value, cst.Call):
        raise RefusedError("it is no statement of one call")
    call = inside[0].value
    name = cst.Module([]).code_for_node(call.func).rpartition(".")[2]
    if name not in CALLED:
        raise RefusedError(f"`{name}` is no function that only reports")
    if m.findall(call, _SCOPES) or any(arg.star for arg in call.args):
        raise RefusedError("its arguments are more than expressions of values")
    return call


_SCOPES = (
    m.Await() | m.Yield() | m.NamedExpr() | m.Lambda() | m.GeneratorExp() | m.ListComp() | m.DictComp() | m.SetComp()
)


class _Parameters(cst.CSTTransformer):
    """Finds the values that a call takes from its function. An attribute of `self` becomes a name of its own."""

    def __init__(self, known: set[str]) -> None:
        super().__init__()
        self._known = known
        self._no_values: set[int] = set()
        self.given: dict[str, str] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note the names that are no values: of attributes and of keywords."""
        if isinstance(node, cst.Attribute):
            self._no_values.add(id(node.attr))
            return not m.matches(node, _OF_SELF)
        if isinstance(node, cst.Arg) and node.keyword is not None:
            self._no_values.add(id(node.keyword))
        return True

    def on_leave(self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT) -> cst.CSTNodeT:
        """Give each value a parameter."""
        if isinstance(original_node, cst.Attribute) and m.matches(original_node, _OF_SELF):
            name = original_node.attr.value
            self.given[name] = f"self.{name}"
            return cst.Name(name)  # type: ignore[return-value]
        if isinstance(original_node, cst.Name) and id(original_node) not in self._no_values:
            name = original_node.value
            if name not in self._known:
                self.given.setdefault(name, name)
        return updated_node


_OF_SELF = m.Attribute(m.Name("self"))
