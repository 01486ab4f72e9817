"""Graph breaks around gradients: hooks, generators, copies, and what wraps a module for several processes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch.autograd.graph import saved_tensors_hooks

from corpus.advice.pair import follows, shows


def _results(function: Any, x: Any = None) -> list[Any]:  # noqa: ANN401 - whatever can be compiled
    compiled = torch.compile(function, backend="eager")
    x = torch.arange(4.0) if x is None else x
    return [compiled(x.clone()), compiled(-x)]  # here


def _same(tensor: Any) -> Any:  # noqa: ANN401
    return tensor


@shows("break-saved-tensor-hooks")
def hooks_inside() -> list[Any]:
    weight = torch.ones(4, requires_grad=True)

    def run(x: Any) -> Any:
        y = x * 2
        with saved_tensors_hooks(_same, _same):  # here
            return y * weight

    return [result.detach() for result in _results(run)]


@follows("break-saved-tensor-hooks")
def hooks_outside() -> list[Any]:
    weight = torch.ones(4, requires_grad=True)
    compiled = torch.compile(lambda x: x * 2 * weight, backend="eager")
    with saved_tensors_hooks(_same, _same):
        return [compiled(torch.arange(4.0)).detach(), compiled(-torch.arange(4.0)).detach()]


def _hooked() -> torch.nn.Module:
    torch.manual_seed(0)
    module = torch.nn.Linear(4, 4)
    module.register_full_backward_hook(lambda *_: None)
    return module


@shows("break-module-backward-hook")
def backward_hook() -> list[Any]:
    return [result.detach() for result in _results(_hooked())]


@follows("break-module-backward-hook")
def backward_hook_compiled() -> list[Any]:
    with torch._dynamo.config.patch(compiled_autograd=True):
        return [result.detach() for result in _results(_hooked())]


@shows("break-generator")
def generator() -> list[Any]:
    def run(x: Any) -> Any:
        def parts() -> Iterator[Any]:
            yield x * 2  # here
            torch._dynamo.graph_break()
            yield x * 3

        return sum(parts())

    return _results(run)


@follows("break-generator")
def unbroken_generator() -> list[Any]:
    def run(x: Any) -> Any:
        def parts() -> Iterator[Any]:
            yield x * 2
            yield x * 3

        return sum(parts())

    return _results(run)


@shows("break-requires-grad-of-result")
def requires_grad_inside() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        y.requires_grad_()  # here
        return y + 1

    return [result.detach() for result in _results(run)]


@follows("break-requires-grad-of-result")
def requires_grad_outside() -> list[Any]:
    return [result.requires_grad_().detach() for result in _results(lambda x: x * 2 + 1)]


@shows("break-data-attribute")
def data_set() -> list[Any]:
    def run(x: Any) -> Any:
        y = x.clone()
        y.data = x * 2  # here
        return y + 1

    return _results(run)


@follows("break-data-attribute")
def data_copied() -> list[Any]:
    def run(x: Any) -> Any:
        y = x.clone()
        y.copy_(x * 2)
        return y + 1

    return _results(run)


@shows("break-deepcopy")
def deep_copy() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        return copy.deepcopy(y) + 1  # here

    return _results(run)


@follows("break-deepcopy")
def cloned() -> list[Any]:
    return _results(lambda x: (x * 2).clone() + 1)


def _with_ddp(build: Any) -> list[Any]:  # noqa: ANN401
    torch.manual_seed(0)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        call = build(torch.nn.Linear(4, 4))
        return [call(torch.ones(2, 4)).detach() for _ in range(2)]  # here
    finally:
        dist.destroy_process_group()


@shows("break-distributed-data-parallel")
def wrapped_first() -> list[Any]:
    return _with_ddp(lambda net: torch.compile(torch.nn.parallel.DistributedDataParallel(net), backend="eager"))


@follows("break-distributed-data-parallel")
def compiled_first() -> list[Any]:
    return _with_ddp(lambda net: torch.nn.parallel.DistributedDataParallel(torch.compile(net, backend="eager")))


class Square(torch.autograd.Function):
    """A square with a gradient of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * 2 * x


class SquareWithTangent(Square):
    """The same with a tangent."""

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        (x,) = ctx.saved_tensors
        return tangent * 2 * x


def _trained(function: Any) -> list[Any]:  # noqa: ANN401
    compiled, x = torch.compile(function, backend="eager"), torch.arange(4.0, requires_grad=True)
    y = compiled(x)
    y.sum().backward()
    return [y.detach(), x.grad]


@shows("break-autograd-function")
def with_tangent() -> list[Any]:
    def run(x: Any) -> Any:
        return SquareWithTangent.apply(x) + 1  # here

    return _trained(run)


@follows("break-autograd-function")
def without_tangent() -> list[Any]:
    return _trained(lambda x: Square.apply(x) + 1)


@shows("break-requires-grad-attribute")
def requires_grad_is_set() -> list[Any]:
    weight = torch.ones(4)

    def run(x: Any) -> Any:
        y = x * 2
        weight.requires_grad = True  # here
        return y * weight

    return [result.detach() for result in _results(run)]


@follows("break-requires-grad-attribute")
def requires_grad_is_set_before() -> list[Any]:
    weight = torch.ones(4).requires_grad_()
    return [result.detach() for result in _results(lambda x: x * 2 * weight)]
