"""Compiles that failed, functions that were left as they are, and the limit of entries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import torch

from corpus.advice.pair import follows, shows


def by_length(x: Any, word: Any) -> Any:
    return x * len(word)  # here


WORDS = ["a" * (count * count + 2) for count in range(12)]


@shows("recompile-limit")
def limit() -> list[Any]:
    compiled = torch.compile(by_length, backend="eager")
    return [compiled(torch.ones(4), word) for word in WORDS]


@follows("recompile-limit")
def within_the_limit() -> list[Any]:
    compiled = torch.compile(lambda x, length: x * length, backend="eager")
    return [compiled(torch.ones(4), torch.tensor(len(word))) for word in WORDS]


def refuses(graph: Any, inputs: Any) -> Any:
    raise ValueError("no such kernel")


@shows("failure")
def backend_fails() -> list[Any]:
    def run(x: Any) -> Any:  # here
        return x * 2

    try:
        torch.compile(run, backend=refuses)(torch.ones(4))
    except Exception as error:  # noqa: BLE001  each release wraps it in another one
        return [str(error).partition(":")[0]]
    return []


@shows("tensor-size-one")
def one_and_several() -> list[Any]:
    def run(x: Any) -> Any:
        return x * 2  # here

    compiled = torch.compile(run, backend="eager")
    return [compiled(torch.ones(1, 4)), compiled(torch.ones(3, 4))]


@shows("number-in-condition")
def warms_up() -> list[Any]:
    def run(x: Any, step: int) -> Any:
        if step < 2:  # here
            x = x / 2
        return x * 3

    compiled = torch.compile(run, backend="eager")
    return [compiled(torch.ones(4), step) for step in range(3)]


@follows("number-in-condition")
def warms_up_outside() -> list[Any]:
    compiled = torch.compile(lambda x: x * 3, backend="eager")
    return [compiled(torch.ones(4) / 2 if step < 2 else torch.ones(4)) for step in range(3)]


def best(x: Any, k: int) -> Any:
    return x.topk(k).values  # here


@shows("number-in-call")
def other_counts() -> list[Any]:
    compiled = torch.compile(best, backend="eager")
    return [compiled(torch.arange(9.0), k) for k in (3, 4, 7)]


@follows("number-in-call")
def counts_as_symbols() -> list[Any]:
    compiled = torch.compile(best, backend="eager", dynamic=True)
    return [compiled(torch.arange(9.0), k) for k in (3, 4, 7)]


@shows("number-of-one")
def one_and_more() -> list[Any]:
    compiled = torch.compile(best, backend="eager")
    return [compiled(torch.arange(9.0), k) for k in (1, 3)]


KEPT = 3


@shows("held-number-in-call")
def global_counts() -> list[Any]:
    global KEPT
    results = []
    compiled = torch.compile(lambda x: x.topk(KEPT).values, backend="eager")  # here
    for KEPT in (3, 4):  # noqa: B007  the function reads it
        results.append(compiled(torch.arange(9.0)))
    return results


@follows("held-number-in-call")
def counts_handed_over() -> list[Any]:
    compiled = torch.compile(best, backend="eager", dynamic=True)
    return [compiled(torch.arange(9.0), k) for k in (3, 4)]


@shows("specialized-number")
def other_parts() -> list[Any]:
    def run(x: Any, parts: int) -> Any:
        return x.chunk(parts)[0] * 2  # here

    compiled = torch.compile(run, backend="eager")
    return [compiled(torch.arange(12.0), parts) for parts in (2, 4, 3)]


@follows("specialized-number")
def parts_outside() -> list[Any]:
    compiled = torch.compile(lambda part: part * 2, backend="eager", dynamic=True)
    return [compiled(torch.arange(12.0).chunk(parts)[0]) for parts in (2, 4, 3)]


@shows("object-identity")
def one_array_or_two() -> list[Any]:
    def run(pairs: Any) -> Any:
        return sum(torch.from_numpy(array) for pair in pairs for array in pair)  # here

    compiled = torch.compile(run, backend="eager")
    first, other = numpy.ones(4, numpy.float32), numpy.zeros(4, numpy.float32)
    return [compiled([(first, other), (other, first)]), compiled([(first, other), (other.copy(), first)])]


def _scheduled(rate: Any) -> list[Any]:
    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([weight], lr=rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)

    @torch.compile(backend="eager")
    @torch.no_grad()
    def step(optimizer: Any) -> None:
        for group in optimizer.param_groups:  # here
            for parameter in group["params"]:
                parameter.sub_(parameter.grad * group["lr"])

    for _ in range(3):
        optimizer.zero_grad(set_to_none=False)
        (weight * 2).sum().backward()
        step(optimizer)  # here
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The schedule sees no call of the optimizer's own `step`.
            schedule.step()
    return [weight.detach()]


@shows("learning-rate")
def rate_is_a_number() -> list[Any]:
    return _scheduled(0.1)


@follows("learning-rate")
def rate_is_a_tensor() -> list[Any]:
    return _scheduled(torch.tensor(0.1))


class Layer(torch.nn.Module):
    """A layer that knows its number."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position
        self.register_buffer("factor", torch.tensor(position + 1))

    def forward(self, x: Any) -> Any:
        return x * (self.position + 1)  # here


class LayerWithFactor(Layer):
    """The same with what depends on the number, computed once."""

    def forward(self, x: Any) -> Any:
        return x * self.factor


def _each(layer: type[Layer]) -> list[Any]:
    return [torch.compile(layer(position), backend="eager")(torch.arange(4.0)) for position in range(5)]


@shows("attribute-of-each-object")
def number_of_layer() -> list[Any]:
    return _each(Layer)


@follows("attribute-of-each-object")
def factor_of_layer() -> list[Any]:
    return _each(LayerWithFactor)


class Options:
    """An object whose class has an attribute."""

    rate = 2.0


def _with_options(*, is_set_before: bool) -> list[Any]:
    options, results = Options(), []
    compiled = torch.compile(lambda x, options: x * options.rate, backend="eager")  # here
    for is_set in (is_set_before, True):
        if is_set:
            options.rate = 2.0
        results.append(compiled(torch.arange(4.0), options))
    return results


@shows("own-attribute")
def set_after_first_call() -> list[Any]:
    return _with_options(is_set_before=False)


@follows("own-attribute")
def set_before_first_call() -> list[Any]:
    return _with_options(is_set_before=True)


@shows("storage-offset")
def views_at_offsets() -> list[Any]:
    compiled = torch.compile(lambda x: x * 2, backend="eager", dynamic=True)  # here
    data = torch.arange(24.0)
    return [compiled(part) for part in (data[4:12], data[:8])]


@shows("symbolic-shape")
def crosses_a_size() -> list[Any]:
    def run(x: Any) -> Any:
        return x * 2 if x.shape[0] > 8 else x * 3  # here

    compiled = torch.compile(run, backend="eager", dynamic=True)
    return [compiled(torch.ones(4)), compiled(torch.ones(12))]
