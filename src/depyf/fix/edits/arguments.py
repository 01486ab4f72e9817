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
from depyf.fix.edit import Edit, RefusedError, call_of, event_of, kinds_of, proposer
from depyf.fix.edits.marks import arguments_of, parameter
from depyf.fix.trees import Change, Statement, replace_statement, statement
from depyf.model.index_reader import Run

FORMS = {
    "argument-float": "torch.tensor({})",
    "tensor-stride": "{}.contiguous()",
    "tensor-dispatch-keys": "{}.resolve_conj()",
}
"""The form of an argument in the call, by the kind of the finding."""
CLONED = "tensor-dispatch-keys"
"""The kind for which a copy may help: one that is made in inference mode is an inference tensor."""


@proposer
def passed(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield another form of the argument that a finding is about."""
    event = event_of(run, finding)
    kind = next((kind for kind in kinds_of(event, finding) if kind in FORMS), "")
    if event is None or not kind:
        return
    form = FORMS[kind]
    # It is not instead of the mark of a size that the same finding is about, but beside it.
    subject = kind, str(finding.where)
    for compiled, failure in zip(event.cause.compiles, event.cause.failures, strict=True):
        call, place = call_of(compiled), parameter(run, event, failure)
        if call is None or place is None:
            continue

        change = given_as(*place, form)
        if kind == CLONED:
            what = f"`{place[1]}` is cloned before the call"
            apply = partial(replace_statement, change=cloned(*place))
            yield Edit(call.filename, call.line, what, subject, apply, is_quiet=True)
        what = f"`{form.format(place[1])}` in the call"
        apply = partial(replace_statement, change=change)
        yield Edit(call.filename, call.line, what, subject, apply, is_quiet=True)
        return


def cloned(position: int, name: str) -> Change:
    """Return the change that gives a name a copy of its tensor before the call that passes it.

    Args:
        position: the position of the parameter.
        name: the name of the parameter.
    """

    def change(stmt: Statement) -> Sequence[Statement]:
        # Another edit may have put a mark of the tensor before the call. A copy has no marks.
        marked = [cst.ensure_type(node, cst.Call).args[0].value for node in m.findall(stmt, _MARK)]
        names = [cst.ensure_type(node, cst.Name).value for node in marked] or arguments_of(stmt, position, name)
        if len(names) != 1:
            raise RefusedError(f"the line passes `{name}` not as one plain name")
        return [statement(f"{names[0]} = {names[0]}.clone()"), stmt]

    return change


_MARK = m.Call(m.Attribute(attr=m.Name("mark_dynamic")), args=[m.Arg(m.Name()), m.ZeroOrMore()])


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
