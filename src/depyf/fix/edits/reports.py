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

So does a branch that only reports or raises; the graph computes its condition.

torch loses the reports of functions that Dynamo inlines. There the report becomes an operator with an effect, or a
leaf function of torch's, both of which the graph calls.

Without `disable`, Dynamo would compile the report itself. Dynamo passes tensors and constants to such a function, and
refuses others. A tensor that is changed in place after the statement is printed changed: the comparison of the output
decides.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from textwrap import indent

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

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
    without_item,
)
from depyf.model.index_reader import Run

KINDS = frozenset(
    (
        "break-print",
        "break-logging",
        "break-warning",
        "break-text-of-tensor",
        "break-item",
        "break-time",
        "break-data-dependent-branch",
        "break-data-dependent-assert",
        "break-skipped-function",
        "break-c-extension",
        "graph-break",
    )
)
LOUD = frozenset(("break-print", "break-logging", "break-warning", "break-text-of-tensor", "break-item"))
"""The kinds for which the table shows why a statement is no report."""
CALLED = frozenset(
    "print info debug warning warn error exception critical log write add_scalar add_scalars add_histogram add_text "
    "add_image set_postfix set_postfix_str set_description log_metric log_metrics log_dict secho echo".split()
)
"""Functions that only report: of Python, `logging`, TensorBoard, `tqdm`, MLflow and click."""
COLLECTING = frozenset(("update", "observe", "push", "append"))
"""Functions that add to an object of the module, such as a meter, that the compiled function uses for nothing else."""


LEAF = "@torch._dynamo.decorators.leaf_function\ndef {0}({1}):\n{2}\n"
FAKE = "@{0}.register_fake\ndef {0}_fake({1}):\n    return None\n"
OPERATOR = '@torch.library.custom_op("reports::{0}", mutates_args=())\ndef {0}({1}) -> None:\n{2}\n'
DISABLED = "@torch.compiler.disable\ndef {0}({1}):\n{2}\n"


@proposer
def reports(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the function for a statement that reports something, or for a branch that only reports or raises."""
    where = finding.where
    if where is None or finding.kind not in KINDS:
        return
    is_quiet = finding.kind not in LOUD
    rows: tuple[tuple[str, Change, Roots | None], ...] = (
        ("the report becomes a function that torch calls after the graph", reported, _line_itself),
        ("the function that only reports is called after the graph", reporter_after, _callers),
        ("the report becomes an operator with an effect", partial(reported, form=OPERATOR), None),
        ("the report becomes a leaf function, which the graph calls", partial(reported, form=LEAF), None),
        (
            "the report becomes a leaf function that gets the module",
            partial(reported, form=LEAF, with_module=True),
            None,
        ),
    )
    for what, change, in_root in rows:
        is_first = change is reported
        subject = subject_of(finding)
        yield Edit(where.file, where.line, what, subject, change, is_quiet=is_quiet or not is_first, in_root=in_root)


Change = Callable[[cst.Module, int], cst.Module]
Roots = Callable[[cst.Module, int], list[int]]


def _line_itself(_: cst.Module, line: int) -> list[int]:
    return [line]


def _callers(module: cst.Module, line: int) -> list[int]:
    """Return the lines that call the function that contains a line."""
    name = enclosing_function(module, line).name.value
    where = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return [where[call].start.line for call in m.findall(module, m.Call(m.Name(name)))]


def reported(module: cst.Module, line: int, *, form: str = DISABLED, with_module: bool = False) -> cst.Module:
    """Return the module with the statement at a line as a function of its own.

    Args:
        module: the module.
        line: the line of the statement.
        form: the form of the function. A function that Dynamo inlines may call a leaf function or an operator as well.
        with_module: pass `self`, and not its attributes: torch passes a module to a leaf function, and no progress bar.

    Raises:
        RefusedError: it does more than report or raise, or the file does not import torch.
    """
    name = f"report_{line}"
    after_import_of_torch(module, name)  # refuses a file without torch
    known = names_of_module(module) | set(dir(builtins))
    definitions: list[str] = []

    def change(stmt: Statement) -> Sequence[Statement]:
        body, given = _moved(module, stmt, known, with_module=with_module)
        plain = ", ".join(given)
        typed = ", ".join(f"{parameter}: {_type(module, value)}" for parameter, value in given.items())
        parameters = typed if form is OPERATOR else plain
        definitions.append(form.format(name, parameters, indent(body.strip("\n"), "    ")))
        definitions.append(FAKE.format(name, plain))
        new = statement(f"{name}({', '.join(given.values())})")
        return [new.with_changes(leading_lines=stmt.leading_lines)]

    changed = replace_statement(module, line, change)
    added = [cst.parse_statement(definitions[0])]
    if form is not DISABLED:
        added.append(cst.parse_statement(definitions[1]))
    if form is OPERATOR:
        added.append(statement(f"{name}.register_effect(torch.library.EffectType.ORDERED)"))
    if form is DISABLED:
        added.append(statement(f"torch._dynamo.config.reorderable_logging_functions.add({name})"))
    blank = [cst.EmptyLine(indent=False)] * 2
    return after_definition_of(changed, line, [new.with_changes(leading_lines=blank) for new in added])


def _type(module: cst.Module, value: str) -> str:
    """Return the type of an argument of an operator, as far as the text shows it: a tensor otherwise.

    A loop counts a number. An attribute has the type of the literal that it is set to, or of the parameter.
    """
    if m.matches(cst.parse_expression(value), _OF_SELF):
        return _type_of_attribute(module, value.partition(".")[2])
    is_counter = m.Name(value) | m.Tuple([m.Element(m.Name(value)), m.ZeroOrMore()])
    counting = m.For(target=is_counter, iter=m.Call(m.Name("range") | m.Name("enumerate")))
    return "int" if value.isidentifier() and m.findall(module, counting) else "torch.Tensor"


def _type_of_attribute(module: cst.Module, name: str) -> str:
    """Return `str`, `int`, `float` or `bool` for an attribute that is set to such a value, else `torch.Tensor`."""
    if _TEXTUAL.search(name):
        return "str"
    target = m.AssignTarget(m.Attribute(m.Name("self"), m.Name(name)))
    for assignment in m.findall(module, m.Assign(targets=[target])):
        value = cst.ensure_type(assignment, cst.Assign).value
        for literal, kind in _LITERALS:
            if m.matches(value, literal):
                return kind
        if isinstance(value, cst.Name):
            annotated = m.Param(
                m.Name(value.value), annotation=m.Annotation(m.Name(m.MatchRegex("int|float|bool|str")))
            )
            for parameter in m.findall(module, annotated):
                return cst.ensure_type(parameter.annotation.annotation, cst.Name).value  # type: ignore[attr-defined]
    return "torch.Tensor"


_TEXTUAL = re.compile("(^|_)(name|prefix|tag)$")
_LITERALS = (
    (m.SimpleString() | m.FormattedString(), "str"),
    (m.Integer(), "int"),
    (m.Float(), "float"),
    (m.Name("True") | m.Name("False"), "bool"),
)


def _moved(module: cst.Module, stmt: Statement, known: set[str], *, with_module: bool) -> tuple[str, dict[str, str]]:
    """Return the text of a statement as the body of a function, and the arguments by their parameters.

    The graph computes the condition of a branch, unless a part of it may not be evaluated.

    Args:
        module: the syntax tree of the user's file.
        stmt: the statement.
        known: the names that the function can read without a parameter.
        with_module: pass `self`, and not its attributes.

    Raises:
        RefusedError: the statement does more than report or raise, or uses no attribute of `self` to pass it for.
    """
    inside = _Parameters(known, with_module=with_module)
    text = _moved_text(module, stmt, inside)
    if with_module and "module" not in inside.given:
        raise RefusedError("the statement calls no attribute of `self`")
    return text, inside.given


def _moved_text(module: cst.Module, stmt: Statement, inside: _Parameters) -> str:
    """Return the text of a statement as the body of a function, with its values as parameters."""
    if m.matches(stmt, m.SimpleStatementLine([m.Assert()])):
        return _moved_assert(module, stmt, inside)
    if not isinstance(stmt, cst.If):
        call = _call(stmt, module).visit(inside)
        assert isinstance(call, cst.Call)
        return module.code_for_node(call)
    for row in _rows(stmt):
        if not m.matches(row, m.Raise() | m.Pass()):
            _call(cst.SimpleStatementLine([row]))
    is_one = stmt.orelse is None and not m.findall(stmt.test, m.BooleanOperation() | m.IfExp() | m.NamedExpr())
    body = stmt.with_changes(leading_lines=())
    if is_one:
        body = body.with_changes(test=_condition(module, stmt.test, inside))
    moved = body.visit(inside)
    assert isinstance(moved, cst.If)
    return module.code_for_node(moved)


def _moved_assert(module: cst.Module, stmt: Statement, inside: _Parameters) -> str:
    """Return an assertion as the body of a function. The graph computes its condition."""
    assertion = cst.ensure_type(cst.ensure_type(stmt, cst.SimpleStatementLine).body[0], cst.Assert)
    moved = assertion.with_changes(test=_condition(module, assertion.test, inside)).visit(inside)
    assert isinstance(moved, cst.Assert)
    return module.code_for_node(moved)


def _condition(module: cst.Module, test: cst.BaseExpression, inside: _Parameters) -> cst.BaseExpression:
    """Return the condition of the moved statement. The graph computes its tensor, and `not` is applied after the graph.

    Args:
        module: the syntax tree of the user's file.
        test: the condition.
        inside: gets the tensor as the parameter `condition`.
    """
    is_not = m.matches(test, m.UnaryOperation(operator=m.Not()))
    tensor = test.expression if is_not else test  # type: ignore[attr-defined]
    inside.given["condition"] = module.code_for_node(without_item(tensor))
    name = cst.Name("condition")
    inside.leave_alone(name)
    return cst.UnaryOperation(cst.Not(), name) if is_not else name


def _rows(branch: cst.If) -> Iterator[cst.BaseSmallStatement]:
    """Yield the statements of the arms of a branch, also of branches in it.

    Raises:
        RefusedError: an arm has another compound statement.
    """
    waiting: list[cst.CSTNode] = [branch]
    while waiting:
        at = waiting.pop()
        if isinstance(at, (cst.If, cst.Else)):
            waiting += [at.body, *([at.orelse] if isinstance(at, cst.If) and at.orelse is not None else [])]
        elif isinstance(at, (cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine)):
            waiting += at.body
        elif isinstance(at, cst.BaseSmallStatement):
            yield at
        else:
            raise RefusedError("an arm is more than calls that report")


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


def is_report(row: cst.CSTNode) -> bool:
    """Return whether a small statement is a call that only reports."""
    if not isinstance(row, cst.Expr):
        return False
    try:
        _call(cst.SimpleStatementLine([row]))
    except RefusedError:
        return False
    return True


def _call(stmt: Statement, module: cst.Module | None = None) -> cst.Call:
    """Return the call that a statement consists of, if it only reports.

    Args:
        stmt: the statement.
        module: its module, if it may also add to an object of the module.

    Raises:
        RefusedError: it is another statement.
    """
    inside = stmt.body if isinstance(stmt, cst.SimpleStatementLine) else ()
    if len(inside) != 1 or not isinstance(inside[0], cst.Expr) or not isinstance(inside[0].value, cst.Call):
        raise RefusedError("it is no statement of one call")
    call = inside[0].value
    owner, _, name = cst.Module([]).code_for_node(call.func).rpartition(".")
    is_collected = name in COLLECTING and module is not None and _is_used_once(module, owner, stmt)
    if name not in CALLED and not is_collected:
        raise RefusedError(f"`{name}` is no function that only reports")
    if m.findall(call, _SCOPES) or any(arg.star for arg in call.args):
        raise RefusedError("its arguments are more than expressions of values")
    return call


def _is_used_once(module: cst.Module, owner: str, stmt: Statement) -> bool:
    """Return whether an owner is an object of the module, or an item of one, that the function uses once.

    Other functions may use it, such as the one that saves it at the end.

    Args:
        module: the syntax tree of the user's file.
        owner: the text of the owner.
        stmt: the statement, which is in the function.
    """
    name = owner.partition("[")[0]
    is_stmt: m.MatchIfTrue[cst.CSTNode] = m.MatchIfTrue(stmt.deep_equals)
    functions = [node for node in m.findall(module, m.FunctionDef()) if m.findall(node, is_stmt)]
    counts = [len(m.findall(node, m.Name(name))) for node in functions]
    return name in names_of_module(module) and max(counts, default=0) == 1


_SCOPES = (
    m.Await() | m.Yield() | m.NamedExpr() | m.Lambda() | m.GeneratorExp() | m.ListComp() | m.DictComp() | m.SetComp()
)


class _Parameters(cst.CSTTransformer):
    """Finds the values that a call takes from its function.

    An attribute of `self` becomes a name of its own, or one of the parameter `module`.
    """

    def __init__(self, known: set[str], *, with_module: bool) -> None:
        super().__init__()
        self._known, self._with_module = known, with_module
        self._no_values: set[int] = set()
        self.given: dict[str, str] = {}

    def leave_alone(self, node: cst.CSTNode) -> None:
        """Give a name no parameter."""
        self._no_values.add(id(node))

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
            if self._with_module:
                self.given["module"] = "self"
                return cst.Attribute(cst.Name("module"), original_node.attr)  # type: ignore[return-value]
            self.given[name] = f"self.{name}"
            return cst.Name(name)  # type: ignore[return-value]
        if isinstance(original_node, cst.Name) and id(original_node) not in self._no_values:
            name = original_node.value
            if name not in self._known:
                self.given.setdefault(name, name)
        return updated_node


_OF_SELF = m.Attribute(m.Name("self"))
