"""Compare the rows of a batch, each compiled and run alone, with the batch: the first kernel whose bits differ.

The captured graph runs on the whole batch, and on each part of it. The results of a node for all parts, put together,
must have the bits of the batch's. Both compilations may fuse differently, so kernels are aligned by the nodes whose
results they write, and the lines of C++ and interpreted kernels by the nodes that they compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

import torch
import torch.fx
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.model.counts import counted
from depyf.model.user_line import UserLine
from depyf.torch.adapters.inductor_modules import is_inductor
from depyf.torch.bits.edges import LaunchRun, ModuleRun, cloned, edges
from depyf.torch.bits.gaps import Gap, gap
from depyf.torch.bits.kernels import KernelResult, Wrong, first_of, names_of
from depyf.torch.bits.reference import origin_of
from depyf.torch.bits.report import BitsReport, First
from depyf.torch.bits.running import Backend, Setting
from depyf.torch.numerics.inside import leading_to
from depyf.torch.numerics.places import user_line
from depyf.torch.numerics.prefixes import cuts, first_wrong, prefix
from depyf.torch.numerics.recording import GraphCall
from depyf.torch.numerics.watching import copy_of

_STATE = ("_parameters_", "_buffers_")
"""Parts of the names that Dynamo gives to the parameters and buffers among the inputs of a graph."""


class NoBatch(ValueError):
    """No input of a graph has the size of the batch, or the size cannot be divided into the parts."""


@dataclass(slots=True)
class Run:
    """One run of a compiled graph: its outputs, and what its kernels wrote, by node.

    lines: the values of the lines of kernels, sorted, by the node that they compute.
    """

    outputs: list[Any] = field(default_factory=list)
    modules: list[ModuleRun] = field(default_factory=list)
    values: dict[str, Tensor] = field(default_factory=dict)
    lines: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Split:
    """A call of a graph, and how its batch is divided: `size` rows into parts of `part` rows."""

    call: GraphCall
    part: int
    size: int

    def batched(self) -> list[int]:
        """Return the positions of the inputs that have the batch: tensors of that size that are no parameters.

        Raises:
            NoBatch: there is none, or the parts do not fit.
        """
        names = [node.name for node in self.call.module.graph.nodes if node.op == "placeholder"]
        pairs = enumerate(zip(names, self.call.inputs, strict=True))
        positions = [index for index, (name, value) in pairs if self._has_batch(value) and not is_state(name)]
        if not positions or self.size % self.part or self.part == self.size:
            raise NoBatch(f"no input has {self.size} rows, or {self.part} is no part of it")
        return positions

    def _has_batch(self, value: object) -> bool:
        return isinstance(value, Tensor) and value.dim() > 0 and value.shape[0] == self.size

    def parts(self) -> Iterator[list[Any]]:
        """Yield the inputs of each part."""
        batched = self.batched()
        for begin in range(0, self.size, self.part):
            inputs = self.call.fresh_inputs()
            for index in batched:
                inputs[index] = inputs[index][begin : begin + self.part].clone()
            # A size among the inputs of a graph with dynamic shapes is a number.
            yield [self.part if type(value) is int and value == self.size else value for value in inputs]


def is_state(name: str) -> bool:
    """Return whether the input of a graph with a name is a parameter or a buffer."""
    return any(part in name for part in _STATE)


def compare_batch(report: BitsReport, split: Split, backend: Backend, setting: Setting) -> None:
    """Compare the parts of a batch with the whole, and find the first kernel that differs.

    Args:
        report: takes the results.
        split: the call of a graph, and its parts.
        backend: compiles the graphs.
        setting: makes the context in which everything runs.

    Raises:
        NoBatch: the graph has no such batch.
    """
    inputs = list(split.parts())
    whole = _runs(split.call, split.call.module, [split.call.fresh_inputs()], backend, setting)[0]
    parts = _runs(split.call, split.call.module, inputs, backend, setting)
    for index, value in enumerate(whole.outputs):
        name = f"result[{index}]"
        difference = _difference(value, [part.outputs[index] for part in parts])
        if difference is NotImplemented:
            report.not_compared.append(f"{name}: it has no row for each row of the batch")
            continue
        report.results_compared.append(name)
        if difference is not None:
            report.results_different.append(name)
    before = len(report.kernels)
    report.kernels += _kernel_results(whole, parts, split.call.graph)
    report.not_compared += [reason for result in report.kernels[before:] for reason in result.left_out]
    if report.results_different:
        report.first = _first(report, split, whole, parts, (backend, setting))


def _runs(
    call: GraphCall, module: torch.fx.GraphModule, inputs: Sequence[list[Any]], backend: Backend, setting: Setting
) -> list[Run]:
    """Compile a graph once, and run it on several inputs of the same shapes."""
    torch._dynamo.reset()
    runs = []
    with setting(), edges(cloned, inside=True) as modules, torch.set_grad_enabled(False):
        compiled: Callable[..., Any] = torch.compile(copy_of(module), backend=backend)
        for given in inputs:
            torch.manual_seed(0)
            outputs = [_plain(value) for value in _pytree.tree_leaves(compiled(*given))]
            kept = [replace(run, runs=list(run.runs)) for run in modules]
            runs.append(Run(outputs, kept, dict(_written(kept)), dict(_lines(kept))))
    return runs


def _plain(value: Any) -> Any:
    return cloned(value) if isinstance(value, Tensor) else value


def _written(modules: list[ModuleRun]) -> Iterator[tuple[str, Tensor]]:
    for run in modules:
        for launch in run.runs:
            yield from ((node, value) for _, node, value in launch.results if node)


def _lines(modules: list[ModuleRun]) -> Iterator[tuple[str, Tensor]]:
    for run in modules:
        for launch in run.runs:
            yield from _lines_of(launch).items()


def _lines_of(launch: LaunchRun) -> dict[str, Tensor]:
    """Return the values of the lines of a launch, sorted, by node. Several lines may compute parts of a node."""
    values: dict[str, list[Tensor]] = {}
    for line in launch.followed.lines if launch.followed is not None else ():
        heard = launch.lines.get(line.statement.line)
        is_whole = heard is not None and not line.is_store and len(line.computes) == 1
        if heard is not None and is_whole:
            values.setdefault(line.computes[0], []).append(heard)
    return {node: torch.cat(parts).sort()[0] for node, parts in values.items()}


def _difference(value: object, parts: Sequence[object]) -> Any:
    """Return how a result of the batch differs from those of the parts; NotImplemented if they have no such rows."""
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if not isinstance(value, Tensor) or len(tensors) != len(parts) or not all(part.dim() for part in tensors):
        return NotImplemented
    together = torch.cat(tensors) if len({part.shape[1:] for part in tensors}) == 1 else tensors[0]
    if together.shape != value.shape or together.dtype != value.dtype:
        return NotImplemented
    return gap(value, together)


def _kernel_results(whole: Run, parts: Sequence[Run], graph: int) -> Iterator[KernelResult]:
    for run in whole.modules:
        for position, launch in enumerate(run.runs):
            result = KernelResult(launch.kernel, graph, "forward", position)
            for parameter, node, value in launch.results:
                others = [part.values[node] for part in parts if node in part.values]
                difference = _difference(value, others) if len(others) == len(parts) else NotImplemented
                if difference is NotImplemented:
                    result.left_out.append(f"{parameter or launch.kernel} of {launch.kernel}: no row of a part has it")
                    continue
                result.compared += 1
                if difference is not None:
                    result.wrong.append(Wrong(parameter, node, difference))
            yield result


def _first(
    report: BitsReport, split: Split, whole: Run, parts: Sequence[Run], how: tuple[Backend, Setting]
) -> First | None:
    wrong = first_of(report.kernels)
    if wrong is None:
        return None
    run = whole.modules[0]
    node, number = _narrowed(run.runs[wrong.position], wrong.wrong[0], parts)
    nodes: Mapping[str, torch.fx.Node] = {other.name: other for other in run.module.graph.nodes}
    captured = {other.name: other for other in split.call.module.graph.nodes}
    origin = captured.get(origin_of(nodes[node])) if node in nodes else None
    cause, place = "not known", wrong.position
    if origin is not None and _is_first(split, origin, how):
        cause = _CONFIRMED.format(origin.name)
    else:
        # The parts have other kernels there, so that an earlier one could not be compared.
        origin = _by_cuts(split, how)
        computing = [index for index, launch in enumerate(run.runs) if origin in _captured(run, launch, captured)]
        if origin is not None and computing:
            cause, place, node, number = _CONFIRMED.format(origin.name), computing[-1], origin.name, 0
    launch = run.runs[place]
    before = [result for result in report.kernels if result.position < place]
    rows = launch.followed.kernel.text.splitlines() if launch.followed is not None else []
    return First(
        kernel=launch.kernel,
        graph=wrong.graph,
        part=wrong.part,
        equal_before=sum(bool(result.compared) for result in before),
        not_compared_before=sum(not result.compared for result in before),
        node=node,
        where=_where(nodes.get(node), origin),
        gap=wrong.wrong[0].gap,
        cause=cause,
        line=number,
        text=rows[number - 1].strip() if number else "",
    )


_CONFIRMED = "the size of the batch: the graph that is cut behind {} differs, and each earlier cut is equal"


def _where(node: torch.fx.Node | None, origin: torch.fx.Node | None) -> UserLine | None:
    places = (user_line(graph_node) for graph_node in (node, origin) if graph_node is not None)
    return next((place for place in places if place is not None), None)


def _captured(
    run: ModuleRun, launch: LaunchRun, captured: Mapping[str, torch.fx.Node]
) -> set[torch.fx.Node | None]:
    """Return the captured nodes from which the nodes of a launch come."""
    names = {*names_of(run, launch), *(node for _, node, _ in launch.results)}
    return {captured.get(origin_of(node)) for node in run.module.graph.nodes if node.name in names}


def _narrowed(launch: LaunchRun, wrong: Wrong, parts: Sequence[Run]) -> tuple[str, int]:
    """Return the first node of a launch whose values differ, and the kernel's line; else the node of the result."""
    whole_lines = _lines_of(launch)
    for line in leading_to([wrong.parameter], launch.followed) if launch.followed is not None else ():
        node = line.computes[0] if line.computes else ""
        others = [part.lines[node] for part in parts if node in part.lines]
        if node not in whole_lines or len(others) != len(parts) or line.is_store:
            continue
        together = torch.cat(others).sort()[0]
        # An accumulator of the batch and one of a part have other steps.
        if len(together) == len(whole_lines[node]) and gap(whole_lines[node], together) is not None:
            return node, line.statement.line
    return wrong.node, 0


def _places(split: Split) -> list[torch.fx.Node]:
    """Return the nodes after which a graph can be cut."""
    return [node for node in cuts(split.call.module, lambda node: True) if isinstance(_example(node), Tensor)]


def _example(node: torch.fx.Node) -> object:
    return node.meta.get("example_value", node.meta.get("val"))


def _is_first(split: Split, node: torch.fx.Node, how: tuple[Backend, Setting]) -> bool:
    """Return whether a graph that is cut behind a node differs, and one that is cut before it does not."""
    nodes = _places(split)
    if node not in nodes:
        return False
    earlier = nodes[: nodes.index(node)]
    return _cut(split, node, how) and not (earlier and _cut(split, earlier[-1], how))


def _by_cuts(split: Split, how: tuple[Backend, Setting]) -> torch.fx.Node | None:
    """Return the first node behind which a graph that is cut there differs, by bisection."""
    return first_wrong(_places(split), lambda node: _cut(split, node, how))


def _cut(split: Split, node: torch.fx.Node, how: tuple[Backend, Setting]) -> bool:
    """Return whether the graph up to a node gives other bits for the batch than for its parts."""
    module = prefix(split.call.module, node, lambda other: isinstance(_example(other), Tensor))
    whole = _runs(split.call, module, [split.call.fresh_inputs()], *how)[0]
    parts = _runs(split.call, module, list(split.parts()), *how)
    pairs = ((value, [part.outputs[index] for part in parts]) for index, value in enumerate(whole.outputs))
    return any(isinstance(_difference(*pair), Gap) for pair in pairs)


def sides_of(batch: tuple[int, int]) -> tuple[str, str]:
    """Return the two arrangements in words."""
    part, size = sorted(batch)
    return f"a batch of {size}", f"each {counted(part, 'row')} of it alone"


@contextmanager
def dynamic_shapes() -> Iterator[None]:
    """Make Dynamo capture graphs that run on a batch of another size, too."""
    from torch._dynamo import config

    wanted = {"assume_static_by_default": False, "automatic_dynamic_shapes": True}
    with config.patch({name: value for name, value in wanted.items() if hasattr(config, name)}):
        yield


def compare_batches(
    report: BitsReport, calls: list[tuple[GraphCall, Backend]], batch: tuple[int, int], setting: Setting
) -> None:
    """Compare calls of captured graphs, the parts of each batch against the whole, up to the first that differs.

    Args:
        report: takes the results.
        calls: the calls of captured graphs, each with the backend that compiles them.
        batch: the number of rows of a part, and of the whole batch.
        setting: makes the context in which everything runs.
    """
    part, size = sorted(batch)
    for call, backend in calls:
        if not is_inductor(backend):
            continue
        report.graphs += 1
        try:
            compare_batch(report, Split(call, part, size), backend, setting)
        except (NoBatch, RuntimeError, TypeError) as error:
            report.not_compared.append(f"graph {call.graph}, call {call.number}: {error}")
        if report.first is not None or report.results_different:
            return
    if not calls:
        report.not_compared.append("Dynamo captured no graph")
