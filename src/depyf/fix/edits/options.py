"""Options of what the program calls: a learning rate as a tensor, a static cache, a loader without its last batch.

before: torch.optim.SGD(model.parameters(), lr=0.1)
after:  torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))

Padding, before the call of the compiled function:
    batch = torch.cat([batch, batch.new_zeros(4 - len(batch), *batch.shape[1:])])

A loader that drops its last batch, or a padded batch, is another computation. It is shown, and never tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.findings.events import Event
from depyf.fix.edit import Edit, RefusedError, call_of, event_of, kinds_of, proposer, subject_of
from depyf.fix.edits.marks import SIZES, arguments_of, first_sizes, parameter
from depyf.fix.trees import Statement, replace_statement, statement
from depyf.model.index_reader import Run

OPTIMIZERS = frozenset(("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "RMSprop", "NAdam", "RAdam", "Adamax", "ASGD"))
_NO_SPACE = cst.SimpleWhitespace("")
_EQUAL = cst.AssignEqual(_NO_SPACE, _NO_SPACE)


@proposer
def options(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the options for a finding, each for the whole file that calls the compiled code."""
    event = event_of(run, finding)
    if event is None:
        return
    kinds = kinds_of(event, finding)
    calls = [call_of(compiled) for _, compiled in event.compiles]
    files = list(dict.fromkeys(call.filename for call in calls if call is not None))
    if not SIZES.isdisjoint(kinds):
        yield from _padded(run, finding, event)
    for file in files:
        if "learning-rate" in kinds:
            yield _edit(finding, file, "the learning rate as a tensor", with_tensor_rate)
        yield _edit(finding, file, 'generate(..., cache_implementation="static")', with_static_cache)
        if not SIZES.isdisjoint(kinds):
            yield _edit(finding, file, "DataLoader(..., drop_last=True)", with_dropped_batch, is_offered=True)


def _padded(run: Run, finding: Finding, event: Event) -> Iterator[Edit]:
    """Yield the padding of a smaller batch to the size of the others."""
    for compiled, failure in zip(event.cause.compiles, event.cause.failures, strict=True):
        sizes, call, place = first_sizes(failure), call_of(compiled), parameter(run, event, failure)
        if sizes is None or call is None or place is None or sizes[0] <= sizes[1]:
            continue
        what = f"`{place[1]}` padded with zeros to {sizes[0]} rows before the call"
        apply = partial(with_padding, parameter=place, rows=sizes[0])
        yield Edit(call.filename, call.line, what, subject_of(finding), apply, is_offered=True, is_quiet=True)
        return


def with_padding(module: cst.Module, line: int, parameter: tuple[int, str], rows: int) -> cst.Module:
    """Pad an argument of the call at a line.

    Args:
        module: the module.
        line: the line of the call.
        parameter: the position and the name of the parameter.
        rows: the size of dimension 0 that the argument gets.

    Raises:
        RefusedError: the line passes the argument not as one plain name.
    """

    def change(stmt: Statement) -> Sequence[Statement]:
        names = arguments_of(stmt, *parameter)
        if len(names) != 1:
            raise RefusedError(f"the line passes `{parameter[1]}` not as one plain name")
        name = names[0]
        padded = f"{name} = torch.cat([{name}, {name}.new_zeros({rows} - len({name}), *{name}.shape[1:])])"
        return [statement(padded), stmt]

    return replace_statement(module, line, change)


def _edit(finding: Finding, file: str, what: str, change: Change, *, is_offered: bool = False) -> Edit:
    def apply(module: cst.Module, _: int) -> cst.Module:
        return change(module)

    return Edit(file, 0, what, subject_of(finding), apply, is_of_file=True, is_offered=is_offered, is_quiet=True)


Change = Callable[[cst.Module], cst.Module]


def with_tensor_rate(module: cst.Module) -> cst.Module:
    """Pass the learning rate of each optimizer as a tensor."""

    def changed(call: cst.Call, name: str) -> cst.Call | None:
        if name.rpartition(".")[2] not in OPTIMIZERS:
            return None
        args = list(call.args)
        for at, arg in enumerate(args):
            if arg.keyword is not None and arg.keyword.value == "lr" and not m.matches(arg.value, m.Call()):
                args[at] = arg.with_changes(value=cst.Call(cst.parse_expression("torch.tensor"), [cst.Arg(arg.value)]))
                return call.with_changes(args=args)
        return None

    return _calls(module, changed, "no optimizer of the file gets a number as `lr=`")


def with_static_cache(module: cst.Module) -> cst.Module:
    """Give each call of `generate` a cache of a fixed size."""

    def changed(call: cst.Call, name: str) -> cst.Call | None:
        if not name.endswith(".generate") or _names(call) & {"cache_implementation", "past_key_values"}:
            return None
        return _with(call, "cache_implementation", '"static"')

    return _calls(module, changed, "the file has no call of `generate` without a cache of its own")


def with_dropped_batch(module: cst.Module) -> cst.Module:
    """Let each loader drop its last batch."""

    def changed(call: cst.Call, name: str) -> cst.Call | None:
        if name.rpartition(".")[2] != "DataLoader" or _names(call) & {"drop_last", "batch_sampler"}:
            return None
        return _with(call, "drop_last", "True")

    return _calls(module, changed, "the file makes no `DataLoader` that keeps its last batch")


def _names(call: cst.Call) -> set[str]:
    """Return the keywords of a call; those of `**` count as any."""
    stars = {"cache_implementation", "drop_last"} if any(arg.star == "**" for arg in call.args) else set()
    return stars | {arg.keyword.value for arg in call.args if arg.keyword is not None}


def _with(call: cst.Call, keyword: str, value: str) -> cst.Call:
    added = cst.Arg(cst.parse_expression(value), cst.Name(keyword), _EQUAL)
    args = list(call.args)
    if args and isinstance(args[-1].comma, cst.MaybeSentinel):
        args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return call.with_changes(args=[*args, added])


def _calls(module: cst.Module, change: Callable[[cst.Call, str], cst.Call | None], why: str) -> cst.Module:
    """Return the module with changed calls.

    Args:
        module: the module.
        change: returns a call in its new form, or None for a call that stays; it also gets the text of the function.
        why: why the edit is refused if no call changes.

    Raises:
        RefusedError: no call changes.
    """
    visitor = _Calls(change)
    changed = module.visit(visitor)
    if not visitor.count:
        raise RefusedError(why)
    return changed


class _Calls(cst.CSTTransformer):
    """Changes calls, and counts the changes."""

    def __init__(self, change: Callable[[cst.Call, str], cst.Call | None]) -> None:
        super().__init__()
        self._change = change
        self.count = 0

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        changed = self._change(updated_node, cst.Module([]).code_for_node(original_node.func))
        self.count += changed is not None
        return updated_node if changed is None else changed
