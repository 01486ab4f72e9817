"""Run a captured graph compiled, and keep the results of its kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.torch.bits.edges import Keep, ModuleRun, Spot, cloned, edges
from depyf.torch.bits.gaps import gap
from depyf.torch.bits.reference import Eager
from depyf.torch.numerics.recording import GraphCall
from depyf.torch.numerics.watching import copy_of, gradients_of

Backend = Callable[..., Any] | str
Setting = Callable[[], AbstractContextManager[Any]]
"""A context in which a graph is compiled and run."""
Compiler = Callable[[GraphCall, Backend], Callable[..., Any]]


@dataclass(slots=True)
class Compiled:
    """One run of a compiled graph: its modules, its outputs, its inputs afterwards, and their gradients."""

    modules: list[ModuleRun] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    gradients: dict[int, Tensor] = field(default_factory=dict)


def whole(call: GraphCall, backend: Backend) -> Callable[..., Any]:
    """Compile a captured graph as one."""
    compiled: Callable[..., Any] = torch.compile(copy_of(call.module), backend=backend)
    return compiled


def compiled_run(
    call: GraphCall,
    backend: Backend,
    *,
    backward: bool,
    setting: Setting = nullcontext,
    compiler: Compiler = whole,
    keep: Keep = cloned,
    inside: bool = False,
    only: Spot | None = None,
) -> Compiled:
    """Compile the graph of a call in a setting, run it on the inputs of the call, and its backward.

    Args:
        call: the call of a captured graph.
        backend: compiles the graph.
        backward: whether to run the backward, too.
        setting: makes the context in which everything runs.
        compiler: compiles the graph of the call by the backend.
        keep: takes each value that a launch writes, for example a copy of it.
        inside: whether to keep the values of the kernels' lines, too.
        only: the only line to keep, if `inside` is set; None for all.
    """
    with setting(), edges(keep, inside=inside, only=only) as modules:
        inputs = call.fresh_inputs()
        with torch.set_grad_enabled(call.grad_enabled):
            torch.manual_seed(0)
            outputs = _pytree.tree_leaves(compiler(call, backend)(*inputs))
        run = Compiled(modules, [_plain(value) for value in outputs], [_plain(value) for value in inputs])
        if backward:
            run.gradients = gradients_of(call, outputs, inputs)
    return run


def _plain(value: Any) -> Any:
    return cloned(value) if isinstance(value, Tensor) else value


def named_results(run: Compiled | Eager) -> Iterator[tuple[str, Any]]:
    """Yield the results of a run with names: outputs, inputs afterwards, and gradients."""
    yield from ((f"result[{index}]", value) for index, value in enumerate(run.outputs))
    yield from ((f"input[{index}] after the call", value) for index, value in enumerate(run.inputs))
    yield from ((f"gradient of input[{index}]", value) for index, value in run.gradients.items())


@dataclass(slots=True)
class Judged:
    """The comparison of the results of two runs: the names by outcome."""

    compared: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def judged(ours: Compiled | Eager, theirs: Compiled | Eager) -> Judged:
    """Compare the results of two runs bit by bit."""
    judgement, others = Judged(), dict(named_results(theirs))
    for name, value in named_results(ours):
        other = others.get(name)
        if not isinstance(value, Tensor) and not isinstance(other, Tensor):
            continue
        if not _is_comparable(value) or not _is_comparable(other):
            judgement.left_out.append(f"{name}: one of the two is no dense tensor")
            continue
        judgement.compared.append(name)
        if _differ(value, other):
            judgement.different.append(name)
    return judgement


def _differ(value: Any, other: Any) -> bool:
    is_alike = value.shape == other.shape and value.dtype == other.dtype
    return not is_alike or gap(value, other) is not None


def _is_comparable(value: object) -> bool:
    return isinstance(value, Tensor) and value.layout is torch.strided and not value.is_quantized
