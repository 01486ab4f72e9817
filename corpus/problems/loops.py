"""Problems in loops around compiled functions: search, simulation, generation, data."""

from __future__ import annotations

import copy
import functools
import logging
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from corpus.problems.seeded import compiled, problem

LOG = logging.getLogger(__name__)
SCALE = 1


@problem("argument-function", "closure-function")
def a_new_lambda_in_each_round() -> None:
    @compiled
    def apply(x: Tensor, activation: Callable[[Tensor], Tensor]) -> Tensor:
        return activation(x) * 2

    for power in (1, 2, 3):
        apply(torch.randn(4), lambda x, power=power: x**power)  # here


@problem("global-int", "counter")
def a_global_is_raised() -> None:
    global SCALE

    @compiled
    def scaled(x: Tensor) -> Tensor:
        return x * SCALE  # here

    with torch._dynamo.config.patch(specialize_int=True, automatic_dynamic_shapes=False):
        for SCALE in (1, 5, 9):
            scaled(torch.randn(4))


@problem("argument-length")
def a_list_of_many_lengths() -> None:
    @compiled
    def pooled(parts: list[Tensor]) -> Tensor:
        return torch.stack(parts).amax(0)  # here

    for count in (2, 3, 4):
        pooled([torch.randn(4) for _ in range(count)])


@problem("dict-keys")
def batches_with_other_keys() -> None:
    @compiled
    def total(batch: dict[str, Tensor]) -> Tensor:
        return sum(batch.values())  # here

    total({"image": torch.ones(4)})
    total({"image": torch.ones(4), "text": torch.ones(4)})


@problem("keyword-arguments")
def other_keywords() -> None:
    @compiled
    def total(x: Tensor, **more: Tensor) -> Tensor:
        for value in more.values():  # here
            x = x + value
        return x

    total(torch.ones(4), bias=torch.ones(4))
    total(torch.ones(4), shift=torch.ones(4))


@problem("break-logging")
def progress_is_logged() -> None:
    @compiled
    def relax(x: Tensor) -> Tensor:
        y = x * 0.5
        LOG.warning("relaxed once")  # here
        return y + 1

    LOG.disabled = True
    relax(torch.randn(4))


@problem("break-warning")
def a_warning_in_the_step() -> None:
    @compiled
    def step(x: Tensor) -> Tensor:
        y = x * 2
        warnings.warn("slow path", stacklevel=2)  # here
        return y

    step(torch.randn(4))


@problem("break-random", "break-skipped-function")
def noise_from_the_standard_library() -> None:
    @compiled
    def jitter(x: Tensor) -> Tensor:
        y = x.relu()
        random.seed(3)  # here
        return y + 1

    jitter(torch.randn(4))


@problem("break-deepcopy")
def the_state_is_copied() -> None:
    @compiled
    def remember(x: Tensor) -> Tensor:
        y = x * 3
        kept = copy.deepcopy(y)  # here
        return y + kept

    remember(torch.randn(4))


@problem("break-loop-over-data", "break-item", "break-data-dependent-branch")
def iterates_until_it_converges() -> None:
    @compiled
    def converge(x: Tensor) -> Tensor:
        while x.abs().max() > 0.1:  # here
            x = x * 0.1
        return x

    converge(torch.ones(4))


@problem("train-eval", "grad-mode")
def validation_in_each_epoch() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    model = compiled(net)
    for _ in range(2):
        net.train()
        model(torch.randn(2, 4))
        net.eval()
        model(torch.randn(2, 4))  # here


@problem("default-dtype")
def the_default_dtype_changes() -> None:
    @compiled
    def shifted(x: Tensor) -> Tensor:
        return x + torch.ones(4)

    shifted(torch.zeros(4))
    torch.set_default_dtype(torch.float64)
    try:
        shifted(torch.zeros(4, dtype=torch.float32))  # here
    finally:
        torch.set_default_dtype(torch.float32)


@problem("tensor-aliasing")
def the_same_tensor_twice() -> None:
    @compiled
    def mixed(a: Tensor, b: Tensor) -> Tensor:
        return a.mul(2) + b

    x = torch.randn(4)
    mixed(x, torch.randn(4))
    mixed(x, x)  # here


@problem("break-disabled")
def a_function_is_disabled() -> None:
    @torch.compiler.disable
    def augment(x: Tensor) -> Tensor:
        return x.flip(0)

    @compiled
    def step(x: Tensor) -> Tensor:
        return augment(x * 2).sum()  # here

    step(torch.randn(4))


@problem("break-text-of-tensor", "break-skipped-function", "break-item")
def a_key_of_a_tensor() -> None:
    table = {"tensor(1)": 2.0}

    @compiled
    def look_up(x: Tensor, index: Tensor) -> Tensor:
        y = x.relu()
        return y * table.get(str(index), 1.0)  # here

    look_up(torch.randn(4), torch.tensor(1))


@problem("argument-bool")
def a_flag_is_switched() -> None:
    @compiled
    def block(x: Tensor, residual: bool) -> Tensor:
        return x.tanh() + x if residual else x.tanh()  # here

    for residual in (True, False, True):
        block(torch.randn(4), residual)


@problem("argument-type")
def arrays_and_tensors() -> None:
    @compiled
    def total(x: Any) -> Any:
        return x * 2 + 1  # here

    total(torch.ones(4))
    total(numpy.ones(4, dtype=numpy.float32))


@problem("argument-function", "argument-constant", "object-function", "object-constant")
def a_partial_of_other_functions() -> None:
    @compiled
    def apply(x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        return function(x) + 1  # here

    for exponent in (torch.sin, torch.cos):
        apply(torch.randn(4), functools.partial(exponent))


@problem("missing-attribute")
def a_cache_that_is_set_by_the_first_call() -> None:
    class Rotary(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if not hasattr(self, "cached"):  # here
                self.cached = torch.arange(4.0)
            return x * self.cached

    rotary = Rotary()
    model = compiled(rotary)
    for _ in range(3):
        model(torch.randn(4))


@problem("closure-int")
def a_closure_counts() -> None:
    rounds = 0

    @compiled
    def weigh(x: Tensor) -> Tensor:
        return x * rounds  # here

    with torch._dynamo.config.patch(specialize_int=True, automatic_dynamic_shapes=False):
        for rounds in (1, 3, 7):  # noqa: B007 - the closure reads it
            weigh(torch.randn(4))
