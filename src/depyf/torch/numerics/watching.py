"""Run graphs node by node, and look for NaN and infinity in every result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.fx
from torch import Tensor
from torch.utils import _pytree

from depyf.torch.adapters import seams
from depyf.torch.numerics.places import graph_line, user_line
from depyf.torch.numerics.recording import GraphCall
from depyf.torch.numerics.report import Finding, Kind, NumericsReport, Part
from depyf.torch.numerics.statistics import INFINITE, NAN, Statistics, statistics, strange, tensors

_UNWRITTEN = ("empty", "new_empty")
"""Operations that return uninitialised memory."""


class Watcher(torch.fx.Interpreter):
    """Runs a graph and records the nodes that produce NaN or infinity from finite inputs."""

    def __init__(self, module: torch.fx.GraphModule, part: Part, call: GraphCall, report: NumericsReport) -> None:
        super().__init__(module)
        self._part, self._call, self._report = part, call, report
        self._strange: dict[torch.fx.Node, frozenset[str]] = {}
        self._text = report.graphs.setdefault((part, call.graph), seams.graph_text(module))

    def run_node(self, n: torch.fx.Node) -> Any:
        """Run a node, and examine its result."""
        result = super().run_node(n)
        if n.op == "output":
            return result
        self._report.nodes += 1
        # An assignment to a part of a tensor returns nothing; its result is the tensor.
        changed = n.args[0] if result is None and n.args and isinstance(n.args[0], torch.fx.Node) else n
        kinds = frozenset() if _is_unwritten(n) else strange(self.env.get(changed) if changed is not n else result)
        known = frozenset().union(*(self._strange.get(source, frozenset()) for source in n.all_input_nodes))
        self._strange[n] = self._strange[changed] = kinds
        for kind in sorted(kinds - known, key=(NAN, INFINITE).index):
            if not self._is_meant(n, kind):
                self._note(n, Kind(kind), result if changed is n else self.env.get(changed))
        return result

    def _is_meant(self, n: torch.fx.Node, kind: str) -> bool:
        """Return whether the program names the value explicitly, or the caller passes in infinity."""
        if kind == INFINITE and n.op in ("placeholder", "get_attr"):
            return True
        is_it = math.isnan if kind == NAN else math.isinf
        scalars = [leaf for leaf in _pytree.tree_leaves((n.args, n.kwargs)) if isinstance(leaf, float)]
        return any(is_it(scalar) for scalar in scalars)

    def _note(self, n: torch.fx.Node, kind: Kind, result: object) -> None:
        known = {(finding.kind, finding.part, finding.graph, finding.node) for finding in self._report.findings}
        if (kind, self._part, self._call.graph, n.name) in known:
            return
        line, text = graph_line(self._text, n.name)
        self._report.findings.append(
            Finding(
                kind=kind,
                part=self._part,
                graph=self._call.graph,
                call=self._call.number,
                node=n.name,
                line=line,
                text=text,
                where=user_line(n),
                result=next((statistics(tensor) for tensor in tensors(result)), None),
                inputs=tuple(self._inputs(n)),
            )
        )

    def _inputs(self, n: torch.fx.Node) -> Iterator[tuple[str, Statistics]]:
        for node in n.all_input_nodes:
            for tensor in tensors(self.env.get(node)):
                yield node.name, statistics(tensor)


def _is_unwritten(n: torch.fx.Node) -> bool:
    target = n.target
    name = getattr(target, "__name__", str(target)).split(".")[0]
    return n.op in ("call_function", "call_method") and name.startswith(_UNWRITTEN)


def watch(call: GraphCall, report: NumericsReport, *, backward: bool) -> None:
    """Run one call of a captured graph, and AOTAutograd's graphs for it, node by node.

    Args:
        call: the call of a captured graph.
        report: takes the findings.
        backward: whether to examine the backward, too.
    """
    count_before = len(report.findings)
    with torch.set_grad_enabled(call.grad_enabled):
        torch.manual_seed(0)
        watcher = Watcher(call.module, Part.CAPTURED, call, report)
        # The statistics of a finding may need its inputs again.
        watcher.garbage_collect_values = False
        watcher.run(*call.fresh_inputs())
    is_strange = len(report.findings) > count_before
    if backward and call.cotangents:
        _watch_autograd(call, report, forward_is_known=is_strange)


def _watch_autograd(call: GraphCall, report: NumericsReport, *, forward_is_known: bool) -> None:
    """Run the forward and the backward graph. Findings of the captured graph are not reported again."""
    seen = NumericsReport(report.function, graphs=report.graphs)

    def compiler(part: Part) -> Callable[..., Any]:
        def compiled(module: torch.fx.GraphModule, _: object) -> Any:
            watcher = Watcher(module, part, call, seen)
            watcher.garbage_collect_values = False
            return boxed(lambda args: watcher.run(*args))

        return compiled

    outputs, inputs = run_compiled(call, aot_backend(compiler(Part.FORWARD), compiler(Part.BACKWARD)))
    gradients_of(call, outputs, inputs)
    report.nodes += seen.nodes
    report.findings += [finding for finding in seen.findings if finding.part is Part.BACKWARD or not forward_is_known]


def aot_backend(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a backend for AOTAutograd's graphs. Each compiler takes a graph module and returns a function."""
    from torch._dynamo.backends.common import aot_autograd

    backend: Callable[..., Any] = aot_autograd(fw_compiler=forward, bw_compiler=backward)
    return backend


def boxed(run: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Return a function that AOTAutograd calls with one list; it may empty the list."""

    def called(args: list[Any]) -> Any:
        given = list(args)
        args.clear()
        return run(given)

    called._boxed_call = True  # type: ignore[attr-defined]
    return called


def copy_of(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Return the same graph with a new code object, because torch has been told to skip the old one."""
    graph = torch.fx.Graph()
    output = graph.graph_copy(module.graph, {})
    graph.output(output)
    return torch.fx.GraphModule(module, graph)


def run_compiled(call: GraphCall, backend: Callable[..., Any]) -> tuple[list[Any], list[Any]]:
    """Compile the graph of a call again and run it; return its outputs and its inputs after the run."""
    inputs = call.fresh_inputs()
    with torch.set_grad_enabled(call.grad_enabled):
        torch.manual_seed(0)
        outputs = torch.compile(copy_of(call.module), backend=backend)(*inputs)
    return _pytree.tree_leaves(outputs), inputs


def gradients_of(call: GraphCall, outputs: list[Any], inputs: list[Any]) -> dict[int, Tensor]:
    """Return the gradient of each input by position, computed from the output gradients in the program.

    Args:
        call: the call of a captured graph, with the gradients of its outputs.
        outputs: the outputs of the graph.
        inputs: its inputs.
    """
    pairs = [
        (output, call.cotangents[index])
        for index, output in enumerate(outputs)
        if index in call.cotangents and isinstance(output, Tensor) and output.requires_grad
    ]
    wanted = {
        index: argument
        for index, argument in enumerate(inputs)
        if isinstance(argument, Tensor) and argument.requires_grad
    }
    if not pairs or not wanted:
        return {}
    gradients = torch.autograd.grad(
        [output for output, _ in pairs],
        list(wanted.values()),
        [gradient for _, gradient in pairs],
        allow_unused=True,
    )
    return {index: gradient for index, gradient in zip(wanted, gradients) if gradient is not None}
