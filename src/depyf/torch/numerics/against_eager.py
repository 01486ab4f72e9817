"""Compare the compiled graphs of a function with the same graphs run eagerly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.fx
from torch import Tensor
from torch._dynamo.exc import Unsupported
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine
from depyf.torch.adapters import seams
from depyf.torch.adapters.compiled import compiled_by
from depyf.torch.numerics.comparing import Tolerance, deviations
from depyf.torch.numerics.places import graph_line, user_line
from depyf.torch.numerics.prefixes import cuts, first_wrong, prefix
from depyf.torch.numerics.recording import GraphCall, copied
from depyf.torch.numerics.report import Deviation, Finding, Kind, NumericsReport, Part, one_line
from depyf.torch.numerics.statistics import Statistics, statistics, tensors
from depyf.torch.numerics.watching import copy_of

Run = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one run of a graph: its outputs, its inputs after the run, and the gradients of its inputs."""

    outputs: list[Any]
    inputs: list[Any]
    gradients: list[Any]

    @property
    def forward(self) -> list[Any]:
        """All results except the gradients."""
        return [*self.outputs, *self.inputs]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs differ: the position of the result, the distance, and whether the result is a gradient."""

    position: int
    deviation: Deviation
    gradient: bool


class Comparison:
    """One graph, run compiled by the user's backend and run eagerly."""

    def __init__(self, call: GraphCall, backend: Run | str, tolerance: Tolerance, *, backward: bool) -> None:
        self._call, self._backend, self._tolerance = call, backend, tolerance
        self._backward = backward
        self._has_tensor = _tensor_nodes(call)

    def whole(self) -> Difference | None:
        """Compare the whole graph on the inputs of its call, with the gradients from the program."""
        return self._compare(self._call.module, self._call.cotangents)

    def run_compiled(self) -> None:
        """Run the whole compiled graph on the inputs and gradients of its call."""
        self._run_compiled(self._call.module, self._call.cotangents)

    def first_wrong_node(self) -> torch.fx.Node | None:
        """Return the first node after which the compiled graph differs from the eager one."""
        nodes = cuts(self._call.module, self._has_tensor.__contains__)
        return first_wrong(nodes, lambda node: self.behind(node) is not None)

    def behind(self, node: torch.fx.Node) -> Difference | None:
        """Compare the graph up to a node, with synthetic gradients."""
        return self._compare(prefix(self._call.module, node, self._has_tensor.__contains__), None)

    def line_of_lost_change(self) -> UserLine | None:
        """Return the user's line of the last node that changes an input in place, if that change alone differs."""
        module = self._call.module
        eager, compiled = self._run(copy_of(module).forward, None), self._run_compiled(module, None)
        results = deviations(compiled.outputs, eager.outputs, self._tolerance, list)
        changes = deviations(compiled.inputs, eager.inputs, self._tolerance, list)
        if results or not changes:
            return None
        inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
        changing = [node for node in module.graph.nodes if _changes(node, inputs[min(changes)])]
        return user_line(changing[-1]) if changing else None

    def results_of(self, node: torch.fx.Node) -> tuple[object, list[tuple[str, Statistics]]]:
        """Return the compiled result of a node, and the statistics of its inputs."""
        cut = prefix(self._call.module, node, self._has_tensor.__contains__)
        result = self._run_compiled(cut, None).outputs[0]
        values = _values(self._call)
        inputs = [
            (source.name, statistics(tensor))
            for source in node.all_input_nodes
            for tensor in tensors(values.get(source))
        ]
        return result, inputs

    def _compare(self, module: torch.fx.GraphModule, cotangents: dict[int, Tensor] | None) -> Difference | None:
        eager = self._run(copy_of(module).forward, cotangents)
        compiled = self._run_compiled(module, cotangents)
        exact: list[Results] = []

        def in_float64() -> Results:
            if not exact:
                exact.append(self._exactly(module, cotangents))
            return exact[0]

        forward = deviations(compiled.forward, eager.forward, self._tolerance, lambda: in_float64().forward)
        if forward:
            position = min(forward)
            return Difference(position, forward[position], gradient=False)
        backward = deviations(compiled.gradients, eager.gradients, self._tolerance, lambda: in_float64().gradients)
        position = min(backward, default=-1)
        return Difference(position, backward[position], gradient=True) if backward else None

    def _run_compiled(self, module: torch.fx.GraphModule, cotangents: dict[int, Tensor] | None) -> Results:
        """Compile a graph with the backend and run it: through Dynamo if Dynamo captures it whole, else directly."""
        results = self._run_by_dynamo(module, cotangents)
        if results is not None:
            return results
        return self._run(compiled_by(self._backend, copy_of(module), self._call.fresh_inputs()), cotangents)

    def _run_by_dynamo(self, module: torch.fx.GraphModule, cotangents: dict[int, Tensor] | None) -> Results | None:
        """Run a graph as Dynamo compiles it, or return None: Dynamo cannot capture every graph that it produces."""
        compiled_codes = []
        handle = seams.register_bytecode_hook(lambda code, new_code: compiled_codes.append(new_code))
        try:
            results = self._run(torch.compile(copy_of(module), backend=self._backend, fullgraph=True), cotangents)
        except Unsupported:
            return None
        finally:
            handle.remove()
        # A frame that Dynamo skips runs eagerly, and nothing is compiled.
        return results if compiled_codes else None

    def _exactly(self, module: torch.fx.GraphModule, cotangents: dict[int, Tensor] | None) -> Results:
        """Run a graph in float64 as far as possible: a graph may name its dtypes explicitly."""
        doubled = {index: _double(cotangent) for index, cotangent in (cotangents or {}).items()}
        try:
            run = copy_of(module).double().forward
            return self._run(run, doubled if cotangents is not None else None, _double)
        except (RuntimeError, TypeError):
            return Results([], [], [])

    def _run(
        self, run: Run, cotangents: dict[int, Tensor] | None, converted: Callable[[Any], Any] = lambda value: value
    ) -> Results:
        inputs = [converted(fresh_input) for fresh_input in self._call.fresh_inputs()]
        with torch.set_grad_enabled(self._call.grad_enabled):
            torch.manual_seed(0)
            outputs = _pytree.tree_leaves(run(*inputs))
        gradients = self._gradients(outputs, inputs, cotangents) if self._backward else []
        # The next run of a backend may reuse the memory of these results.
        return Results([_kept(output) for output in outputs], [_kept(argument) for argument in inputs], gradients)

    def _gradients(self, outputs: list[Any], inputs: list[Any], cotangents: dict[int, Tensor] | None) -> list[Any]:
        pairs = [
            (output, cotangents[index] if cotangents is not None else _made_up(output, index))
            for index, output in enumerate(outputs)
            if isinstance(output, Tensor) and output.requires_grad and (cotangents is None or index in cotangents)
        ]
        wanted = [argument for argument in inputs if isinstance(argument, Tensor) and argument.requires_grad]
        if not pairs or not wanted:
            return []
        heads, gradients = zip(*pairs)
        return list(torch.autograd.grad(heads, wanted, gradients, allow_unused=True))


def _changes(node: torch.fx.Node, changed: torch.fx.Node) -> bool:
    """Return whether a node changes an input in place: a method such as `add_`, or an assignment to its items."""
    name = str(getattr(node.target, "__name__", node.target))
    is_in_place = name == "setitem" or (name.endswith("_") and not name.endswith("__"))
    return node.op.startswith("call") and is_in_place and node.args[:1] == (changed,)


def compare(
    calls: list[GraphCall], backend: Run | str, tolerance: Tolerance, report: NumericsReport, *, backward: bool
) -> Iterator[Finding]:
    """Yield for each graph the first node whose compiled result differs from the eager one.

    Args:
        calls: the calls of captured graphs.
        backend: the backend, or its name.
        tolerance: how far results may differ.
        report: takes the counts and the notes.
        backward: whether to compare gradients, too.
    """
    wrong: set[int] = set()
    for call in calls:
        if call.graph in wrong:
            continue
        comparison = Comparison(call, backend, tolerance, backward=backward)
        try:
            difference = comparison.whole()
            report.graphs_compared += 1
            node = comparison.first_wrong_node() if difference is not None else None
            if difference is not None:
                wrong.add(call.graph)
                yield _finding(comparison, call, difference, node, report)
        except Exception as error:  # noqa: BLE001 - a backend may raise anything; the other graphs are looked at
            report.notes.append(f"graph {call.graph} could not be compared: {one_line(error)}")
            wrong.add(call.graph)


def _finding(
    comparison: Comparison, call: GraphCall, whole: Difference, node: torch.fx.Node | None, report: NumericsReport
) -> Finding:
    """Report a difference at the node where it begins, or at the graph's output if no single node shows it."""
    text = report.graphs.setdefault((Part.CAPTURED, call.graph), seams.graph_text(call.module))
    difference, result = whole, None
    inputs: list[tuple[str, Statistics]] = []
    if node is None:
        output = next(output_node for output_node in call.module.graph.nodes if output_node.op == "output")
        name, where = output.name, comparison.line_of_lost_change()
        line = next((number for number, row in enumerate(text.splitlines(), 1) if "return" in row.split()), 0)
        shown = text.splitlines()[line - 1].strip() if line else ""
    else:
        difference = comparison.behind(node) or whole
        name, where = node.name, user_line(node)
        line, shown = graph_line(text, name)
        value, inputs = comparison.results_of(node)
        result = next((statistics(tensor) for tensor in tensors(value)), None)
    return Finding(
        kind=Kind.DIFFERENT,
        part=Part.CAPTURED,
        graph=call.graph,
        call=call.number,
        node=name,
        line=line,
        text=shown,
        where=where,
        result=result,
        inputs=tuple(inputs),
        deviation=difference.deviation,
        gradient=difference.gradient,
    )


def _values(call: GraphCall) -> dict[torch.fx.Node, object]:
    """Return the eager result of each node of a graph."""
    runner = torch.fx.Interpreter(call.module, garbage_collect_values=False)
    with torch.set_grad_enabled(call.grad_enabled):
        torch.manual_seed(0)
        runner.run(*call.fresh_inputs())
    return dict(runner.env)


def _tensor_nodes(call: GraphCall) -> set[torch.fx.Node]:
    """Return the nodes whose results contain only tensors."""
    tensor_nodes = set()
    for node, value in _values(call).items():
        leaves = _pytree.tree_leaves(value)
        if leaves and all(isinstance(leaf, Tensor) for leaf in leaves):
            tensor_nodes.add(node)
    return tensor_nodes


def _made_up(output: Tensor, index: int) -> Tensor:
    """Return a deterministic gradient for an output, with no two elements alike."""
    generator = torch.Generator().manual_seed(index)
    gradient = torch.rand(output.shape, generator=generator, dtype=torch.float64) + 0.5
    return gradient.to(output.device, output.dtype)


def _double(value: Any) -> Any:
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return value
    return value.detach().double().requires_grad_(value.requires_grad)


def _kept(value: object) -> object:
    kept = copied(value)
    return kept.detach() if isinstance(kept, Tensor) else kept
