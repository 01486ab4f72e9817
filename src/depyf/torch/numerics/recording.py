"""Run a function once in Dynamo's graphs, and keep the inputs and output gradients of every graph."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.torch.adapters import seams
from depyf.torch.adapters.compiled import forget_entry
from depyf.torch.numerics.statistics import tensors

MOST_CALLS = 100
"""The most calls of graphs that are kept with their inputs; a loop may make any number of them."""

GraphModule = seams.GraphModule


@dataclass(slots=True)
class GraphCall:
    """One call of a captured graph: copies of its inputs before the call, and the gradients of its outputs."""

    graph: int
    number: int
    module: GraphModule
    inputs: list[object]
    grad_enabled: bool
    cotangents: dict[int, Tensor] = field(default_factory=dict)

    def fresh_inputs(self) -> list[Any]:
        """Return copies that a run may modify."""
        return [copied(value) for value in self.inputs]


@dataclass(slots=True)
class Recording:
    """The result of the run, and the number of graph calls that are not in `calls`."""

    calls: list[GraphCall] = field(default_factory=list)
    modules: list[GraphModule] = field(default_factory=list)
    left_out: int = 0
    leaves: dict[int, Tensor] = field(default_factory=dict)


def copied(value: object) -> object:
    """Return a tensor with the same values and its own memory; other values are returned unchanged."""
    if not isinstance(value, Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def record(
    function: Callable[..., Any],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    *,
    loss: Callable[[Any], Tensor] | None,
    backward: bool,
) -> Recording:
    """Run a function and its backward once, with the graphs that Dynamo captures run eagerly.

    No gradients are accumulated: those of the user's parameters do not change.

    Args:
        function: the function to compile.
        args: its positional arguments.
        kwargs: its keyword arguments.
        loss: returns the scalar for the backward from the result; None for the sum of the results.
        backward: whether to run the backward.
    """
    recording = Recording()
    with entries_forgotten():
        outputs = torch.compile(function, backend=functools.partial(_recorded, recording))(*args, **kwargs)
        if backward:
            _run_backward(recording, outputs, loss)
    return recording


def _recorded(recording: Recording, module: GraphModule, _: list[Any]) -> Callable[..., Any]:
    graph = len(recording.modules)
    recording.modules.append(module)

    def run(*inputs: Any) -> Any:
        if len(recording.calls) >= MOST_CALLS:
            recording.left_out += 1
            return module.forward(*inputs)
        number = sum(call.graph == graph for call in recording.calls)
        call = GraphCall(graph, number, module, [copied(value) for value in inputs], torch.is_grad_enabled())
        recording.calls.append(call)
        leaves = [value for value in inputs if isinstance(value, Tensor) and value.requires_grad and value.is_leaf]
        recording.leaves.update((id(leaf), leaf) for leaf in leaves)
        outputs = module.forward(*inputs)
        for index, output in enumerate(_pytree.tree_leaves(outputs)):
            if isinstance(output, Tensor) and output.requires_grad:
                output.register_hook(functools.partial(_keep, call, index))
        return outputs

    return run


def _keep(call: GraphCall, index: int, gradient: Tensor) -> None:
    call.cotangents[index] = gradient.detach().clone()


def _run_backward(recording: Recording, outputs: object, loss: Callable[[Any], Tensor] | None) -> None:
    if loss is not None:
        total = loss(outputs)
    else:
        parts = [tensor for tensor in tensors(outputs) if tensor.requires_grad]
        parts = [torch.view_as_real(part) if part.is_complex() else part for part in parts]
        if not parts:
            return
        total = torch.stack([part.sum().double() for part in parts]).sum()
    if recording.leaves and total.requires_grad:
        torch.autograd.grad(total, list(recording.leaves.values()), allow_unused=True)


@contextlib.contextmanager
def entries_forgotten() -> Iterator[None]:
    """Remove the entries that are made in the context from the caches of the user's functions."""
    pairs: list[tuple[types.CodeType, types.CodeType]] = []

    def note(code: types.CodeType, new_code: types.CodeType) -> None:
        pairs.append((code, new_code))

    handle = seams.register_bytecode_hook(note)
    try:
        yield
    finally:
        handle.remove()
        for code, new_code in pairs:
            forget_entry(code, new_code)
