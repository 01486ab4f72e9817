"""`trace_numerics`: find where the numbers of a compiled function go wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from depyf.torch.adapters.compiled import backend_of, original_callable
from depyf.torch.adapters.inductor_modules import is_inductor
from depyf.torch.adapters.random_numbers import eager_random_numbers
from depyf.torch.capture.active import silenced
from depyf.torch.numerics.against_eager import compare
from depyf.torch.numerics.comparing import Tolerance
from depyf.torch.numerics.inside import look_inside
from depyf.torch.numerics.recording import GraphCall, record
from depyf.torch.numerics.report import Finding, Kind, NumericsReport, Part, one_line
from depyf.torch.numerics.watching import watch


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

    A run is one call of the function, with all its side effects except on `.grad` and on the state of the random number
    generators. It leaves nothing in torch's caches, and a `prepare_debug` context ignores it.

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

    def run(*args: object, **kwargs: object) -> NumericsReport:
        report = NumericsReport(getattr(function, "__qualname__", type(function).__qualname__))
        with _undisturbed():
            recording = record(function, args, kwargs, loss=loss, backward=backward)
            report.calls = len(recording.calls) + recording.left_out
            if not recording.calls:
                report.notes.append("Dynamo captured no graph of it, so nothing was examined")
            if recording.left_out:
                report.notes.append(f"the last {recording.left_out} calls of graphs were not examined")
            for call in recording.calls:
                _watch(call, report, backward=backward)
            if compare_with_eager:
                report.findings += compare(recording.calls, used, tolerance, report, backward=backward)
                _look_inside(recording.calls, used, report, backward=backward)
        report.findings.sort(key=_order)
        return report

    return run


def _watch(call: GraphCall, report: NumericsReport, *, backward: bool) -> None:
    try:
        watch(call, report, backward=backward)
    except Exception as error:  # noqa: BLE001 - what a graph raises alone; the other graphs are looked at
        report.notes.append(f"graph {call.graph} could not be run node by node: {one_line(error)}")


def _look_inside(
    calls: list[GraphCall], backend: str | Callable[..., Any], report: NumericsReport, *, backward: bool
) -> None:
    """Add to each finding the line of Inductor's kernels where it begins."""
    wrong = [call for call in calls if any(_is_of(each, call) for each in report.findings)]
    for call in wrong if is_inductor(backend) else []:
        try:
            inside = look_inside(call, backend, backward=backward)
        except Exception as error:  # noqa: BLE001 - a probed kernel may fail in any way; the findings stand without
            report.notes.append(f"the kernels of graph {call.graph} were not examined: {one_line(error)}")
            continue
        report.findings = [
            replace(each, kernel=inside.of(each.kind, each.part)) if _is_of(each, call) else each
            for each in report.findings
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
