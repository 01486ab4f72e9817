"""An argument gets another form in the call: a float becomes a tensor, a strided tensor a contiguous one.

before: step(batch, scale)
after:  step(batch, torch.tensor(scale))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, call_of, event_of, kinds_of, proposer, subject_of
from depyf.fix.edits.marks import parameter
from depyf.fix.trees import Change, Statement, replace_statement
from depyf.model.index_reader import Run

FORMS = {
    "argument-float": "torch.tensor({})",
    "tensor-stride": "{}.contiguous()",
    "tensor-dispatch-keys": "{}.resolve_conj()",
}
"""The form of an argument in the call, by the kind of the finding."""


@proposer
def passed(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield another form of the argument that a finding is about."""
    event = event_of(run, finding)
    form = next((FORMS[kind] for kind in kinds_of(event, finding) if kind in FORMS), "")
    if event is None or not form:
        return
    for compiled, failure in zip(event.cause.compiles, event.cause.failures, strict=True):
        call, place = call_of(compiled), parameter(run, event, failure)
        if call is None or place is None:
            continue

        change = given_as(*place, form)
        what = f"`{form.format(place[1])}` in the call"
        apply = partial(replace_statement, change=change)
        yield Edit(call.filename, call.line, what, subject_of(finding), apply, is_quiet=True)
        return


def given_as(position: int, name: str, form: str) -> Change:
    """Return the change that passes an argument in another form, in the one call of the statement that passes it.

    Args:
        position: the position of the parameter.
        name: the name of the parameter.
        form: the new form, with `{}` for the argument.
    """
    head = form.partition("{}")[0] or form.partition("{}")[2].partition("(")[0]

    def change(stmt: Statement) -> Sequence[Statement]:
        calls = [call for call in m.findall(stmt, m.Call()) if _argument(call, position, name) is not None]
        if len(calls) != 1:
            raise RefusedError(f"no single call of the line passes `{name}` by itself")
        argument = _argument(calls[0], position, name)
        assert argument is not None
        code = cst.Module([]).code_for_node(argument.value)
        if head in code or m.matches(argument.value, m.Integer()):
            raise RefusedError("the argument has this form already, or is a whole number")
        simple = m.matches(argument.value, m.Name() | m.Attribute() | m.Call() | m.Subscript())
        value = cst.parse_expression(form.format(code if simple or form.startswith("torch.") else f"({code})"))
        changed = stmt.deep_replace(argument, argument.with_changes(value=value))
        assert isinstance(changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        return [changed]

    return change


def _argument(call: cst.CSTNode, position: int, name: str) -> cst.Arg | None:
    """Return the argument of a call for a parameter; None if there is none, or for a function of torch's."""
    assert isinstance(call, cst.Call)
    head = cst.Module([]).code_for_node(call.func).partition(".")[0]
    if head in ("torch", "print", "range", "len", "float", "int"):
        return None
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    before = call.args[: position + 1]
    is_plain = len(before) == position + 1 and not any(arg.star or arg.keyword for arg in before)
    return before[position] if is_plain else None
