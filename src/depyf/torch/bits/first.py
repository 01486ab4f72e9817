"""`first_difference`: the first kernel whose bits differ between two arrangements of one computation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

import torch
import torch.fx
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.model.counts import counted
from depyf.torch.adapters.compiled import backend_of, original_callable
from depyf.torch.adapters.inductor_modules import is_inductor
from depyf.torch.bits.batches import compare_batches, dynamic_shapes, sides_of
from depyf.torch.bits.causes import Facts, cause_of, random_before
from depyf.torch.bits.edges import ModuleRun, Spot
from depyf.torch.bits.gaps import gap
from depyf.torch.bits.kernels import NOT_COMPARED, KernelResult, first_of, kernel_results, names_of
from depyf.torch.bits.lines import WrongLine, judged_lines, wrong_line
from depyf.torch.bits.reference import Eager, Reference, eager_run, origin_of, reference
from depyf.torch.bits.report import BitsReport, First
from depyf.torch.bits.running import Backend, Compiled, Judged, Setting, compiled_run, judged, named_results
from depyf.torch.bits.trials import Search, all_of, in_order, trials, undone
from depyf.torch.capture.active import silenced
from depyf.torch.numerics.places import user_line
from depyf.torch.numerics.prefixes import first_wrong
from depyf.torch.numerics.recording import GraphCall, record
from depyf.torch.numerics.report import one_line

MOST_RESTORED = 2
"""The number of settings that restore equal bits after which no other one is tried."""


@dataclass(frozen=True, slots=True)
class Options:
    """Whether to compare the backward, with which settings, and whether to try settings that restore equal bits."""

    backward: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    restore: bool = False

    @property
    def setting(self) -> Setting:
        """Return the context of the settings."""
        return all_of(self.settings)


def first_difference(
    compiled: object,
    *,
    backend: Backend | None = None,
    loss: Callable[[Any], Tensor] | None = None,
    backward: bool = True,
    settings: dict[str, Any] | None = None,
    restore: bool = False,
    batch: tuple[int, int] | None = None,
) -> Callable[..., BitsReport]:
    """Return a function that runs `compiled` on its arguments and reports the first kernel whose bits are not eager's.

    Each graph that Dynamo captures is compared with the same graph run eagerly, node by node. What each kernel of
    Inductor's and each call of a library wrote is compared with eager's value. Code between graphs is not compared.

    Args:
        compiled: a function or module compiled by `torch.compile`, or an uncompiled one.
        backend: the backend to compare; by default that of `compiled`, or Inductor if it has none.
        loss: a function from the result to a scalar for the backward; by default the sum of all results.
        backward: compare the backward too.
        settings: options of Inductor's, `threads`, or environment variables, under which the graphs are compiled.
        restore: try which settings give eager's bits, and report those that a second run confirms, with their cost.
        batch: two sizes of a batch, such as `(1, 64)`. Then nothing is compared with eager: the arguments have the
            larger batch, and the forward of each part of the smaller size, alone, is compared with that of the whole.

    Raises:
        TypeError: `compiled` cannot be called, or its backend is not Inductor.
        ValueError: there is no such setting.

    Example:
        report = depyf.first_difference(compiled)(x, y)
        report.first.where.line      # 88
    """
    function = original_callable(compiled)
    chosen = backend or backend_of(compiled) or "inductor"
    if not is_inductor(chosen):
        raise TypeError("bits are compared at the edges of Inductor's kernels, and the backend is another one")
    all_of(settings or {})  # Raises now, and not at the first call.
    options = Options(backward, settings or {}, restore)

    def run(*args: object, **kwargs: object) -> BitsReport:
        report = BitsReport(name_of(function), ("compiled", "eager"))
        with undisturbed():
            if batch is not None:
                report.sides = sides_of(batch)
                with dynamic_shapes():
                    calls = record(function, args, dict(kwargs), loss=loss, backward=False).calls
                compare_batches(report, [(call, chosen) for call in calls], batch, options.setting)
                return report
            recording = record(function, args, dict(kwargs), loss=loss, backward=backward)
            if recording.left_out:
                report.not_compared.append(f"the last {recording.left_out} calls of graphs")
            compare_calls(report, [(call, chosen) for call in recording.calls], options)
        return report

    return run


def name_of(function: object) -> str:
    """Return the name of a function or a module's class."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


@contextmanager
def undisturbed() -> Iterator[None]:
    """Isolate a run from the rest of the program: random numbers, grad mode, warnings, and contexts."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []
    with (
        silenced(),
        torch.random.fork_rng(devices=list(devices)),
        torch.set_grad_enabled(torch.is_grad_enabled()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def compare_calls(report: BitsReport, calls: list[tuple[GraphCall, Backend]], options: Options) -> None:
    """Compare calls of captured graphs, compiled against eager, up to the first that differs.

    Args:
        report: takes the results.
        calls: the calls of captured graphs, each with the backend that compiles them.
        options: how to compile and compare.
    """
    for call, backend in calls:
        report.graphs += 1
        try:
            _Graph(report, call, backend, options).compare()
        except Exception as error:  # noqa: BLE001 - what a graph raises alone; the other graphs are compared
            report.not_compared.append(f"graph {call.graph}, call {call.number}: {one_line(error)}")
        if report.first is not None:
            left = len(calls) - report.graphs
            if left:
                report.not_compared.append(f"{counted(left, 'call')} of graphs after the first difference")
            return
    if not calls:
        report.not_compared.append("Dynamo captured no graph")


class _Graph:
    """One call of a captured graph, compiled against eager."""

    def __init__(self, report: BitsReport, call: GraphCall, backend: Backend, options: Options) -> None:
        self._report, self._call, self._backend, self._options = report, call, backend, options
        self._backward = options.backward and bool(call.cotangents)

    def compare(self) -> None:
        """Compare all results and all kernels, and look for the first one that differs."""
        report, call = self._report, self._call
        eager = eager_run(call, backward=self._backward)
        if judged(eager_run(call, backward=self._backward), eager).different:
            report.not_compared.append(f"graph {call.graph}: two eager runs differ, so eager's bits are no reference")
            return
        compiled = self._compiled()
        judgement = judged(compiled, eager)
        label = "" if report.graphs == 1 else f" of graph {call.graph}"
        report.results_compared += [f"{name}{label}" for name in judgement.compared]
        report.results_different += [f"{name}{label}" for name in judgement.different]
        report.not_compared += [f"{name} of graph {call.graph}" for name in judgement.left_out]
        before = len(report.kernels)
        references = [reference(run, eager) for run in compiled.modules]
        for run, known in zip(compiled.modules, references, strict=True):
            report.kernels += kernel_results(run, known.values, call.graph)
        report.not_compared += [reason for result in report.kernels[before:] for reason in result.left_out]
        if judgement.different:
            report.first = self._first(compiled, references, report.kernels[before:], eager, judgement)
            self._restore(eager)

    def _compiled(self, *, inside: bool = False, only: Spot | None = None) -> Compiled:
        torch._dynamo.reset()
        return compiled_run(
            self._call,
            self._backend,
            backward=self._backward,
            setting=self._options.setting,
            inside=inside,
            only=only,
        )

    def _first(
        self,
        compiled: Compiled,
        references: list[Reference],
        results: list[KernelResult],
        eager: Eager,
        judgement: Judged,
    ) -> First | None:
        wrong = first_of(results)
        if wrong is None:
            return self._without_kernel(compiled, eager, judgement)
        place = next(
            index for index, run in enumerate(compiled.modules) if run.is_backward == (wrong.part == "backward")
        )
        run, known = compiled.modules[place], references[place]
        again = _Narrowed.of(run, known, self._compiled(inside=True), wrong)
        if again.line is None and again.is_steady is False:
            again = self._by_single_lines(run, known, wrong, again.lines)
        line, is_steady = again.line, again.is_steady
        nodes = {node.name: node for node in run.module.graph.nodes}
        node = random_before(wrong.wrong[0].node, run, wrong)
        node = node or nodes.get(line.node if line is not None else wrong.wrong[0].node)
        facts = Facts(run, wrong, node, line, known, is_steady)
        before = [*self._report.kernels[: -len(results)], *results][: self._report.kernels.index(wrong)]
        return First(
            kernel=wrong.kernel,
            graph=wrong.graph,
            part=wrong.part,
            equal_before=sum(result.status != NOT_COMPARED for result in before),
            not_compared_before=sum(result.status == NOT_COMPARED for result in before),
            node=node.name if node is not None else "",
            where=self._where(node),
            gap=wrong.wrong[0].gap,
            cause=cause_of(facts),
            line=line.number if line is not None else 0,
            text=line.text if line is not None else "",
        )

    def _by_single_lines(
        self, run: ModuleRun, known: Reference, wrong: KernelResult, lines: tuple[int, ...]
    ) -> _Narrowed:
        """Return the outcome of runs that probe one line each.

        A probe uses the value of its line. The compiler contracts `a * b + c` only if nothing else uses `a * b`, so the
        probes of all lines hide a contraction.
        """
        outcomes = dict[int, _Narrowed]()

        def is_wrong(number: int) -> bool:
            again = self._compiled(inside=True, only=(wrong.kernel, number))
            outcomes[number] = _Narrowed.of(run, known, again, wrong)
            return outcomes[number].line is not None

        first = first_wrong(lines, is_wrong)
        is_steady = any(outcome.is_steady for outcome in outcomes.values())
        return _Narrowed(outcomes[first].line if first is not None else None, is_steady)

    def _where(self, node: torch.fx.Node | None) -> Any:
        """Return the user's line of a node of the lowered graph, or of the captured node from which it comes."""
        if node is None:
            return None
        place = user_line(node)
        if place is not None:
            return place
        captured = {other.name: other for other in self._call.module.graph.nodes}
        origin = captured.get(origin_of(node))
        return user_line(origin) if origin is not None else None

    def _without_kernel(self, compiled: Compiled, eager: Eager, judgement: Judged) -> First | None:
        """Return a difference of results that no kernel shows: the line is that of the result's node."""
        name = judgement.different[0]
        ours, theirs = dict(named_results(compiled))[name], dict(named_results(eager))[name]
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return None
        difference = gap(ours, theirs)
        outputs = next(node for node in self._call.module.graph.nodes if node.op == "output").all_input_nodes
        node = outputs[int(name[len("result[") : -1])] if name.startswith("result[") else None
        statuses = [result.status for result in self._report.kernels]
        missing = statuses.count(NOT_COMPARED)
        assert difference is not None
        return First(
            kernel="",
            graph=self._call.graph,
            part="forward" if node is not None else "backward",
            equal_before=len(statuses) - missing,
            not_compared_before=missing,
            node=node.name if node is not None else "",
            where=user_line(node) if node is not None else None,
            gap=difference,
        )

    def _restore(self, eager: Eager) -> None:
        first = self._report.first
        if not self._options.restore or first is None:
            return
        where = first.where
        options = self._options
        search = Search(self._call, self._backend, eager, self._backward, MOST_RESTORED, options.setting)
        place = ("", 0) if where is None else (where.filename, where.line)
        with options.setting():
            candidates = [*undone(options.settings, all_of), *trials(self._call, *place)]
        self._report.tried = list(search.tried(in_order(candidates, first.cause), costs=True))
        _settle(self._report)


_TOLD_BY = {
    "cpp.enable_floating_point_contract_flag": "contraction: the kernel is compiled with fused multiply-add",
    "cpp.enable_unsafe_math_opt_flag": "fast math: the kernel is compiled with unsafe optimisations",
    "threads": "threads: the parts of a reduction are added in another order",
    "emulate_precision_casts": "precision of an intermediate: a half stays float32 in the kernel",
    "fallback_random": "a random number: Inductor does not draw eager's numbers",
    "pattern_matcher": "another algorithm: a pattern of the graph is replaced",
    "max_autotune": "another algorithm: a kernel that tuning chose",
}
"""The cause that a setting proves: with it alone, the bits are equal."""


def _settle(report: BitsReport) -> None:
    """Add the cause that a setting proves, if the facts of the kernel have none."""
    first = report.first
    names = [attempt.setting.removeprefix("without ").partition("=")[0] for attempt in report.restored]
    proven = [_TOLD_BY[name] for name in names if name in _TOLD_BY]
    if first is not None and proven:
        report.first = replace(first, cause=proven[0])


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """The outcome of a run with probes in the kernel.

    line: the first line with other values than its node. is_steady: whether the run gave the same difference as the one
    without probes; None if the kernel did not run. lines: the lines that were compared.
    """

    line: WrongLine | None = None
    is_steady: bool | None = None
    lines: tuple[int, ...] = ()

    @staticmethod
    def of(run: ModuleRun, known: Reference, again: Compiled, wrong: KernelResult) -> _Narrowed:
        """Return the outcome of a run with probes for the wrong launch of a module.

        Args:
            run: the run without probes.
            known: eager's values.
            again: the run with probes.
            wrong: the launch with other bits.
        """
        other = next((module for module in again.modules if module.is_backward == run.is_backward), None)
        launches = other.runs[wrong.position : wrong.position + 1] if other is not None else []
        if other is None or not launches or launches[0].kernel != wrong.kernel:
            return _Narrowed()
        repeated = list(kernel_results(other, known.values, wrong.graph))[wrong.position]
        about = launches[0], wrong.wrong[0].parameter, known.values, names_of(other, launches[0])
        return _Narrowed(wrong_line(*about), repeated.wrong == wrong.wrong, tuple(judged_lines(*about)))
