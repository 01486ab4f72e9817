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

Other callers of the function draw as before. A comparison with such a number, in the condition of an `if`, is made in
the call as a whole and passed as True or False.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, event_of, kinds_of, proposer, subject_of, text_of
from depyf.fix.trees import compiled_names, enclosing_function, names_of_module, stored
from depyf.model.index_reader import Run

KINDS = frozenset(
    (
        "break-time",
        "break-random",
        "break-numpy-random",
        "break-item",
        "c-extension",
        "break-c-extension",
        "graph-break",
    )
)
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
    row, place = _row(module, function, line)
    parameters = _parameters(function)
    known = names_of_module(module) | set(parameters) - _assigned(function)
    calls = [call for call in m.findall(place, m.Call()) if is_drawn(module, call, known)]
    if not calls:
        raise RefusedError("the line draws no number that depends on nothing of the function")
    call = max(calls, key=lambda candidate: len(module.code_for_node(candidate)))
    text = module.code_for_node(call)
    form = next((form for start, form in FORMS.items() if text.startswith(start)), "torch.tensor({})")
    if isinstance(row, cst.If):
        is_call: m.MatchIfTrue[cst.CSTNode] = m.MatchIfTrue(lambda node: node is call)
        compared = [test for test in m.findall(place, m.Comparison()) if m.findall(test, is_call)]
        if not compared or not _reads_only(compared[0], known):
            raise RefusedError("its condition does not compare the number with one that is known in the call")
        call, form = compared[0], "{}"
    names = compiled_names(module, function.name.value)
    name = f"drawn_{line}"
    changed = module.deep_replace(function, _with_parameter(function, row, call, name, module.code_for_node(call)))
    assert isinstance(changed, cst.Module)
    passing = _Passing(names, name, call, form, parameters)
    passed = changed.visit(passing)
    if not passing.count or passing.others:
        raise RefusedError("the compiled function is not called by its name, or is used otherwise")
    return passed


Row = cst.SimpleStatementLine | cst.If


def _row(module: cst.Module, function: cst.FunctionDef, line: int) -> tuple[Row, cst.CSTNode]:
    """Return the unconditional statement of a function at a line, and the part of it that is always evaluated.

    Raises:
        RefusedError: there is none.
    """
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for row in function.body.body:
        if isinstance(row, cst.SimpleStatementLine) and lines[row].start.line <= line <= lines[row].end.line:
            return row, row
        if isinstance(row, cst.If) and lines[row.test].start.line <= line <= lines[row.test].end.line:
            return row, row.test
    raise RefusedError("the line is in no unconditional statement of its function")


def _parameters(function: cst.FunctionDef) -> dict[str, cst.BaseExpression | None]:
    """Return the parameters of a function in their order, with their defaults."""
    params = (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params)
    return {param.name.value: param.default for param in params}


def _assigned(function: cst.FunctionDef) -> set[str]:
    """Return the names that a function sets."""
    targets = m.findall(function, m.AssignTarget() | m.AugAssign() | m.AnnAssign() | m.NamedExpr() | m.For())
    return set().union(*(stored(store.target) for store in targets))  # type: ignore[attr-defined]


def _reads_only(node: cst.CSTNode, names: set[str]) -> bool:
    """Return whether an expression reads no other names than these and `float` and `int`."""
    text = cst.Module([]).code_for_node(node)
    read = {node.id for node in ast.walk(ast.parse(text.strip())) if isinstance(node, ast.Name)}
    return read <= names | {"float", "int"}


def is_drawn(module: cst.Module, call: cst.CSTNode, known: set[str]) -> bool:
    """Return whether a call draws a number from constants and known names.

    Args:
        module: the syntax tree of the user's file.
        call: the call.
        known: the names that it may read.
    """
    inside = module.code_for_node(call).removeprefix("float(").removeprefix("int(")
    return inside.startswith(SOURCES) and _reads_only(call, known)


_FLOATS = ("rand", "random", "uniform", "normal", "randn", "beta", "gamma", "exponential", "random_sample")
FORMS = {f"{module}.random.{name}(": "torch.tensor(float({}))" for module in ("np", "numpy") for name in _FLOATS} | {
    "time.": "torch.tensor({}, dtype=torch.float64)"
}
"""The form of the argument by the start of what is drawn. A float of NumPy would be float64, which a time needs."""


def _with_parameter(function: cst.FunctionDef, row: Row, call: cst.CSTNode, name: str, text: str) -> cst.FunctionDef:
    if function.params.star_kwarg is not None or not isinstance(function.body, cst.IndentedBlock):
        raise RefusedError("the function takes any keyword, or has its body on its own line")
    changed = row.deep_replace(call, cst.Name(name)).with_changes(leading_lines=())
    assert isinstance(changed, (cst.SimpleStatementLine, cst.If))
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

    def __init__(
        self,
        names: frozenset[str],
        parameter: str,
        drawn: cst.CSTNode,
        form: str,
        parameters: dict[str, cst.BaseExpression | None],
    ) -> None:
        super().__init__()
        self._names, self._parameter, self._drawn, self._form = names, parameter, drawn, form
        self._parameters = parameters
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
        value = cst.parse_expression(self._form.format(self._given(updated_node)))
        return updated_node.with_changes(args=[*updated_node.args, cst.Arg(value, cst.Name(self._parameter), _EQUAL)])

    def _given(self, call: cst.Call) -> str:
        """Return the text of what is drawn, with the arguments of a call in the place of the parameters.

        Raises:
            RefusedError: an argument is more than a name, an attribute or a constant.
        """
        if not m.findall(self._drawn, m.Name(m.MatchIfTrue(self._parameters.__contains__))):
            return cst.Module([]).code_for_node(self._drawn)
        by_name = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
        # A star may pass a parameter that has a default. The comparison of the results shows whether it does.
        by_place = [arg.value for arg in takewhile(lambda arg: not arg.star, call.args) if arg.keyword is None]

        def given(node: cst.CSTNode, _: object) -> cst.CSTNode:
            name = cst.ensure_type(node, cst.Name).value
            at = list(self._parameters).index(name)
            value = by_name.get(name, by_place[at] if at < len(by_place) else self._parameters[name])
            if value is None or not m.matches(value, m.Name() | m.Attribute() | m.Integer() | m.Float()):
                raise RefusedError(f"a call passes more than a name for `{name}`")
            return value

        is_parameter = m.Name(m.MatchIfTrue(lambda name: name in self._parameters))
        changed = m.replace(self._drawn, is_parameter, given)
        assert isinstance(changed, cst.CSTNode)
        return cst.Module([]).code_for_node(changed)
