"""`trace_numerics`: find where the numbers of a compiled function go wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine
from depyf.torch.adapters.compiled import backend_of, original_callable
from depyf.torch.adapters.inductor_modules import is_inductor
from depyf.torch.adapters.random_numbers import eager_random_numbers
from depyf.torch.capture.active import silenced
from depyf.torch.numerics.against_eager import compare
from depyf.torch.numerics.comparing import Tolerance
from depyf.torch.numerics.first_line import first_difference, graph_steps, plain_steps
from depyf.torch.numerics.inside import look_inside
from depyf.torch.numerics.recording import GraphCall, Recording, entries_forgotten, record
from depyf.torch.numerics.report import Comparison, Finding, Kind, NumericsReport, Part, one_line
from depyf.torch.numerics.watching import watch
from depyf.torch.numerics.whole_call import Outcome, State, compared, copied_arguments, outcome_of


def trace_numerics(
    compiled: object,
    *,
    backend: str | Callable[..., Any] | None = None,
    loss: Callable[[Any], Tensor] | None = None,
    backward: bool = True,
    compare_with_eager: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
) -> Callable[..., NumericsReport]:
    """Return a function that runs `compiled` node by node on its arguments and reports where its numbers go wrong.

    It finds the first node of each graph that produces NaN or infinity from finite inputs, forward and backward. It
    also finds the first node whose compiled result differs from the eager one by more than a tolerance. To find that
    node, it compiles the first half of the graph separately, then half of the half that goes wrong, and so on. If
    Inductor is the backend, each finding has the line of the fused kernel in which the error begins.

    The whole compiled call is compared with the plain Python function, too: results, gradients, arguments and modules
    after the call. The report says what was compared. For this, the function runs five times. Modules, `.grad` and the
    random number generators are put back. Other effects, such as prints, occur in each run.

    Args:
        compiled: a function or module compiled by `torch.compile`, or an uncompiled one.
        backend: the backend to compare with eager; by default the backend of `compiled`, or Inductor if it has none.
        loss: a function from the result to a scalar for the backward; by default the sum of all results.
        backward: run the backward too.
        compare_with_eager: also look for results that differ from eager, which compiles the graphs again.
        rtol: the allowed distance relative to the eager value. The default is that of `torch.testing.assert_close` for
            the dtype, with a check against a float64 run for larger errors.
        atol: the allowed absolute distance, with the same default.

    Raises:
        TypeError: `compiled` cannot be called.

    Example:
        report = depyf.trace_numerics(compiled)(x, y)
        report.first.where.line      # 5
    """
    function = original_callable(compiled)
    used = backend or backend_of(compiled) or "inductor"
    tolerance = Tolerance(rtol, atol)

    run_of = compiled if callable(compiled) and backend is None and backend_of(compiled) else None
    run_of = run_of or torch.compile(function, backend=used)

    def run(*args: object, **kwargs: object) -> NumericsReport:
        report = NumericsReport(getattr(function, "__qualname__", type(function).__qualname__))
        with _undisturbed():
            before = Before(State(function, args, kwargs), *copied_arguments(args, kwargs))
            recording = record(function, args, kwargs, loss=loss, backward=backward)
            _watch_all(recording, report, backward=backward)
            if compare_with_eager:
                report.findings += compare(recording.calls, used, tolerance, report, backward=backward)
                _look_inside(recording.calls, used, report, backward=backward)
                report.whole = _whole(run_of, function, before, loss=loss, backward=backward)
                report.whole.where = _first_line(function, before, recording.calls, report)
        report.findings.sort(key=_order)
        return report

    return run


@dataclass(frozen=True, slots=True)
class Before:
    """The state of a program before a call: modules, and copies of the arguments."""

    state: State
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _whole(
    compiled: Callable[..., Any],
    function: Callable[..., Any],
    before: Before,
    *,
    loss: Callable[[Any], Tensor] | None,
    backward: bool,
) -> Comparison:
    """Compare the whole call with the plain function. Afterwards the state is what the recorded call left."""
    after = State(function, before.args, before.kwargs)

    def outcome(run: Callable[..., Any], *, rounded: bool = False) -> Outcome:
        return outcome_of(run, before.args, before.kwargs, before.state, loss=loss, backward=backward, rounded=rounded)

    try:
        with entries_forgotten():
            plain, again, ours = outcome(function), outcome(function), outcome(compiled)
            rounded = outcome(function, rounded=True)
    finally:
        after.restore()
    return compared(ours, plain, again, rounded, state_is_whole=before.state.python.is_whole)


def _first_line(
    function: Callable[..., Any], before: Before, calls: list[GraphCall], report: NumericsReport
) -> UserLine | None:
    """Return the first line at which the graphs are not what the plain function does, if each graph itself is right."""
    is_wrong = report.whole is not None and report.whole.mismatches
    if not is_wrong or any(finding.kind is Kind.DIFFERENT for finding in report.findings):
        return None
    after = State(function, before.args, before.kwargs)
    positional, named = copied_arguments(before.args, before.kwargs)
    before.state.restore()
    torch.manual_seed(0)
    try:
        return first_difference(plain_steps(lambda: function(*positional, **named)), graph_steps(calls))
    finally:
        after.restore()


def _watch_all(recording: Recording, report: NumericsReport, *, backward: bool) -> None:
    report.calls = len(recording.calls) + recording.left_out
    if not recording.calls:
        report.notes.append("Dynamo captured no graph of it, so no node was examined")
    if recording.left_out:
        report.notes.append(f"the last {recording.left_out} calls of graphs were not examined")
    for call in recording.calls:
        _watch(call, report, backward=backward)


def _watch(call: GraphCall, report: NumericsReport, *, backward: bool) -> None:
    try:
        watch(call, report, backward=backward)
    except Exception as error:  # noqa: BLE001 - what a graph raises alone; the other graphs are looked at
        report.notes.append(f"graph {call.graph} could not be run node by node: {one_line(error)}")


def _look_inside(
    calls: list[GraphCall], backend: str | Callable[..., Any], report: NumericsReport, *, backward: bool
) -> None:
    """Add to each finding the line of Inductor's kernels where it begins."""
    wrong = [call for call in calls if any(_is_of(finding, call) for finding in report.findings)]
    for call in wrong if is_inductor(backend) else []:
        try:
            inside = look_inside(call, backend, backward=backward)
        except Exception as error:  # noqa: BLE001 - a probed kernel may fail in any way; the findings stand without
            report.notes.append(f"the kernels of graph {call.graph} were not examined: {one_line(error)}")
            continue
        report.findings = [
            replace(finding, kernel=inside.of(finding.kind, finding.part)) if _is_of(finding, call) else finding
            for finding in report.findings
        ]


def _is_of(finding: Finding, call: GraphCall) -> bool:
    return (finding.graph, finding.call) == (call.graph, call.number)


def _order(finding: Finding) -> tuple[bool, int, int, int, bool]:
    """Return a sort key for findings in the program's order; the backward begins with the last graph."""
    is_backward = finding.part is Part.BACKWARD or finding.gradient
    graph = -finding.graph if is_backward else finding.graph
    return is_backward, finding.call, graph, finding.line, finding.kind is Kind.DIFFERENT


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Isolate a run from the rest of the program: random numbers, grad mode, warnings, and contexts."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []
    with (
        silenced(),
        torch.random.fork_rng(devices=list(devices)),
        torch.set_grad_enabled(torch.is_grad_enabled()),
        eager_random_numbers(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
