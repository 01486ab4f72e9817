"""The values that the kernels of a graph should give: eager's.

A captured graph runs node by node, forward and backward, as the program would run without `torch.compile`. The graph
that Inductor lowers has other nodes: operations are decomposed. It runs eagerly, too. Where one of its nodes gives the
result of a node of the captured graph, the value of the latter counts and is used by the nodes that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

import torch
import torch.fx
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.torch.bits.edges import ModuleRun, cloned
from depyf.torch.bits.gaps import Gap, gap
from depyf.torch.numerics.recording import GraphCall
from depyf.torch.numerics.watching import copy_of, gradients_of

_NEAR = 0.05
"""A node of the lowered graph gives a captured node's result only if they differ by at most this part of their size."""


@dataclass(slots=True)
class Eager:
    """One eager run of a captured graph: the values of its nodes, its outputs, and the gradients.

    gradients: those of the inputs, by position. inner: those of the results of nodes, by the node's name.
    """

    values: dict[str, Any] = field(default_factory=dict)
    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    gradients: dict[int, Tensor] = field(default_factory=dict)
    inner: dict[str, Tensor] = field(default_factory=dict)


def eager_run(call: GraphCall, *, backward: bool) -> Eager:
    """Run a captured graph eagerly on the inputs of its call, and its backward with the gradients of the program."""
    run = Eager()

    class Keeping(torch.fx.Interpreter):
        def run_node(self, n: torch.fx.Node) -> Any:
            result = super().run_node(n)
            if n.op != "output":
                run.values[n.name] = _kept(result)
            if isinstance(result, Tensor) and result.requires_grad and n.op != "placeholder":
                result.register_hook(lambda gradient, name=n.name: run.inner.update({name: cloned(gradient)}))
            return result

    inputs = call.fresh_inputs()
    with torch.set_grad_enabled(call.grad_enabled):
        torch.manual_seed(0)
        interpreter = Keeping(copy_of(call.module))
        outputs = _pytree.tree_leaves(interpreter.run(*inputs))
    run.outputs, run.inputs = [_kept(value) for value in outputs], [_kept(value) for value in inputs]
    if backward:
        run.gradients = gradients_of(call, outputs, inputs)
    return run


def _kept(value: Any) -> Any:
    return _pytree.tree_map(lambda leaf: cloned(leaf) if isinstance(leaf, Tensor) else leaf, value)


@dataclass(slots=True)
class Reference:
    """The values that the nodes of a lowered graph should have.

    decomposed: nodes that give another value than the captured node, although both run eagerly on the same values.
    captured: the captured node whose result, or gradient, a node gives.
    failed: why the graph could not be run, or "".
    """

    values: dict[str, Any] = field(default_factory=dict)
    decomposed: dict[str, Gap] = field(default_factory=dict)
    captured: dict[str, str] = field(default_factory=dict)
    failed: str = ""


def reference(run: ModuleRun, eager: Eager) -> Reference:
    """Return the values of the nodes of a lowered graph, with eager's where eager has them."""
    known = Reference()
    aligned = {} if run.is_backward else dict(_aligned(run.module, eager.values))

    class Correcting(torch.fx.Interpreter):
        def run_node(self, n: torch.fx.Node) -> Any:
            result = super().run_node(n)
            if n.op in ("placeholder", "output", "get_attr") or not isinstance(result, Tensor):
                known.values[n.name] = _kept(result)
                return result
            name = aligned.get(n.name, "")
            right = eager.values.get(name) if not run.is_backward else _gradient(n, result, eager)
            if isinstance(right, Tensor) and is_near(result, right):
                known.captured[n.name] = name
                difference = gap(result, right)
                if difference is not None:
                    known.decomposed[n.name] = difference
                    result = result.detach().clone().copy_(right)
            known.values[n.name] = _kept(result)
            return result

    given = [cloned(value) if isinstance(value, Tensor) else value for value in run.inputs]
    with torch.no_grad():
        torch.manual_seed(0)
        Correcting(run.module).run(*given)
    return known


def _aligned(module: torch.fx.GraphModule, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the last node of the lowered graph that comes from each captured node, and the latter."""
    last: dict[str, str] = {}
    for node in module.graph.nodes:
        name = origin_of(node)
        if name in values and node.op == "call_function":
            last[name] = node.name
    yield from ((lowered, name) for name, lowered in last.items())


def origin_of(node: torch.fx.Node) -> str:
    """Return the name of the node of the captured graph from which a node comes, or ""."""
    sources = node.meta.get("from_node") or []
    source = sources[0] if sources else None
    while source is not None and getattr(source, "from_node", None):
        source = source.from_node[0]
    return str(getattr(source, "name", ""))


def _gradient(node: torch.fx.Node, value: Tensor, eager: Eager) -> Tensor | None:
    """Return the gradient that eager computes where a node of a backward graph does, or None if that is not clear.

    The gradients of eager have no names of nodes. A gradient is this node's if it is the only one that is nearly equal.
    """
    gradients = (*eager.inner.values(), *eager.gradients.values())
    near = [gradient for gradient in gradients if is_near(value, gradient) and bool(value.any())]
    distinct = [gradient for index, gradient in enumerate(near) if all(gap(gradient, other) for other in near[:index])]
    return distinct[0] if len(distinct) == 1 else None


def is_near(value: Tensor, right: Tensor) -> bool:
    """Return whether two tensors differ by little, as they do if only rounding separates them."""
    if value.shape != right.shape or value.dtype != right.dtype:
        return False
    if not value.is_floating_point():
        return bool((value == right).all()) or value.dtype != torch.bool
    ours, theirs = value.double().nan_to_num(), right.double().nan_to_num()
    size = float(theirs.abs().mean()) if theirs.numel() else 0.0
    return bool(((ours - theirs).abs() <= _NEAR * (theirs.abs() + size)).all())
