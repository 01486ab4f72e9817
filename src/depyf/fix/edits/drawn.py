"""A number of Python's that a compiled function draws or reads is drawn in the call, and passed as a tensor.

before:
    def f(x):
        return x * random.random()
    step = torch.compile(f)
    step(x)
after:
    def f(x, drawn_2=None):
        if drawn_2 is None:
            drawn_2 = random.random()
        return x * drawn_2
    step = torch.compile(f)
    step(x, drawn_2=torch.tensor(random.random()))

Other callers of the function draw as before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, event_of, kinds_of, proposer, subject_of, text_of
from depyf.fix.trees import compiled_names, enclosing_function, names_of_module
from depyf.model.index_reader import Run

KINDS = frozenset(("break-time", "break-random", "break-item", "c-extension", "break-c-extension", "graph-break"))
SOURCES = ("time.", "random.", "np.random.", "numpy.random.", "datetime.", "os.getenv", "os.environ")


@proposer
def drawn_before(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the move of a number that is drawn at the line of a finding, or that is read from the environment."""
    where = finding.where
    what = "drawn in the call, and passed as a tensor"
    if finding.kind in KINDS and where is not None:
        yield Edit(where.file, where.line, what, subject_of(finding), drawn, is_quiet=True)
    event = event_of(run, finding)
    if event is None or "global-constant" not in kinds_of(event, finding):
        return
    function = event.cause.function
    text = text_of(run, function.filename)
    for number, row in enumerate(text.splitlines(), start=1):
        if number >= function.first_line and "os.environ" in row:
            yield Edit(function.filename, number, what, subject_of(finding), drawn, is_quiet=True)
            return


def drawn(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the number that is drawn at a line as a parameter of its function.

    Raises:
        RefusedError: no such number is drawn there, in an unconditional statement of a function of the module; or the
            compiled function is used otherwise than in calls.
    """
    function = enclosing_function(module, line)
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    rows = [row for row in function.body.body if lines[row].start.line <= line <= lines[row].end.line]
    if len(rows) != 1 or not isinstance(rows[0], cst.SimpleStatementLine):
        raise RefusedError("the line is in no unconditional statement of its function")
    calls = [call for call in m.findall(rows[0], m.Call()) if _is_drawn(module, call)]
    if not calls:
        raise RefusedError("the line draws no number that depends on nothing of the function")
    call = max(calls, key=lambda candidate: len(module.code_for_node(candidate)))
    names = compiled_names(module, function.name.value)
    name, text = f"drawn_{line}", module.code_for_node(call)
    changed = module.deep_replace(function, _with_parameter(function, rows[0], call, name, text))
    assert isinstance(changed, cst.Module)
    passing = _Passing(names, name, text)
    passed = changed.visit(passing)
    if not passing.count or passing.others:
        raise RefusedError("the compiled function is not called by its name, or is used otherwise")
    return passed


def _is_drawn(module: cst.Module, call: cst.CSTNode) -> bool:
    """Return whether a call draws a number from constants and names of the module alone."""
    assert isinstance(call, cst.Call)
    text = module.code_for_node(call)
    inside = text.removeprefix("float(").removeprefix("int(")
    read = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return inside.startswith(SOURCES) and read <= names_of_module(module) | {"float", "int"}


def _with_parameter(
    function: cst.FunctionDef, row: cst.SimpleStatementLine, call: cst.CSTNode, name: str, text: str
) -> cst.FunctionDef:
    if function.params.star_kwarg is not None or not isinstance(function.body, cst.IndentedBlock):
        raise RefusedError("the function takes any keyword, or has its body on its own line")
    changed = row.deep_replace(call, cst.Name(name)).with_changes(leading_lines=())
    assert isinstance(changed, cst.SimpleStatementLine)
    guard = cst.parse_statement(f"if {name} is None:\n    {name} = {text}\n")
    body: list[cst.BaseStatement] = []
    for stmt in function.body.body:
        body += [guard.with_changes(leading_lines=row.leading_lines), changed] if stmt is row else [stmt]
    parameter = cst.Param(cst.Name(name), default=cst.Name("None"), equal=_EQUAL)
    params = function.params
    if params.kwonly_params or isinstance(params.star_arg, cst.Param):
        params = params.with_changes(kwonly_params=[*params.kwonly_params, parameter])
    else:
        params = params.with_changes(params=[*params.params, parameter])
    return function.with_changes(body=function.body.with_changes(body=body), params=params)


_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


class _Passing(cst.CSTTransformer):
    """Passes a number in all calls of the compiled function, and counts other uses of its names."""

    def __init__(self, names: frozenset[str], parameter: str, text: str) -> None:
        super().__init__()
        self._names, self._parameter, self._text = names, parameter, text
        self.count = self.others = 0

    def visit_Name(self, node: cst.Name) -> bool:  # noqa: N802 - LibCST's name
        """Count a use; a call takes its own back."""
        self.others += node.value in self._names
        return True

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:  # noqa: N802 - LibCST's name
        """Leave out the target of the assignment that makes the name."""
        return not m.matches(node.target, m.Name())

    def visit_FunctionDef_name(self, node: cst.FunctionDef) -> None:  # noqa: N802 - LibCST's name
        """Leave out the name of a definition."""
        self.others -= node.name.value in self._names

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        """Add the argument to a call."""
        if not isinstance(original_node.func, cst.Name) or original_node.func.value not in self._names:
            return updated_node
        self.count += 1
        self.others -= 1
        value = cst.parse_expression(f"torch.tensor({self._text})")
        return updated_node.with_changes(args=[*updated_node.args, cst.Arg(value, cst.Name(self._parameter), _EQUAL)])
