"""Graph breaks: what Dynamo cannot trace, and what to write instead."""

from __future__ import annotations

import linecache
import logging
import random
import threading
import time
import warnings
import zlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import torch

from corpus.advice.pair import follows, shows

LOG = logging.getLogger(__name__)
RATE = ContextVar("RATE", default=3)


def _results(function: Callable[..., Any], *more: Any, x: Any = None) -> list[Any]:
    compiled = torch.compile(function, backend="eager")
    x = torch.arange(4.0) if x is None else x
    return [compiled(x.clone(), *more), compiled(-x, *more)]


@shows("break-data-dependent-branch")
def branch() -> list[Any]:
    def run(x: Any) -> Any:
        if x.sum() > 0:  # here
            return x * 2
        return x * 3

    return _results(run)


@follows("break-data-dependent-branch")
def where() -> list[Any]:
    return _results(lambda x: torch.where(x.sum() > 0, x * 2, x * 3))


@shows("break-data-dependent-assert")
def asserted() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        assert y.sum() < 100, f"too much: {y}"  # here
        return y + 1

    return _results(run)


@follows("break-data-dependent-assert")
def asserted_in_graph() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        torch._assert_async(y.sum() < 100)
        return y + 1

    return _results(run)


@shows("break-item")
def item() -> list[Any]:
    def run(x: Any) -> Any:
        n = x.sum().item()  # here
        return x * n

    return _results(run)


@follows("break-item")
def no_item() -> list[Any]:
    return _results(lambda x: x * x.sum())


@shows("break-backend")
def backend_takes_a_number_out() -> list[Any]:
    def run(x: Any, at: Any) -> Any:
        return x[at] * 2  # here

    compiled = torch.compile(run, backend="aot_eager")
    return [compiled(torch.arange(4.0), torch.tensor(2))]


@shows("break-tolist")
def tolist() -> list[Any]:
    def run(x: Any) -> Any:
        first, *_ = x.tolist()  # here
        return x * first

    return _results(run, x=torch.arange(1, 5))


@follows("break-tolist")
def no_tolist() -> list[Any]:
    return _results(lambda x: x * x[0], x=torch.arange(1, 5))


@shows("break-print")
def printed() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        print(end="")  # here
        return y + 1

    return _results(run)


@follows("break-print")
def not_printed() -> list[Any]:
    return _results(lambda x: x * 2 + 1)


@shows("break-logging")
def logged() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        LOG.debug("twice")  # here
        return y + 1

    return _results(run)


@follows("break-logging")
def not_logged() -> list[Any]:
    return _results(lambda x: x * 2 + 1)


@shows("break-warning")
def warned() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        warnings.warn("twice", stacklevel=1)  # here
        return y + 1

    return _results(run)


@follows("break-warning")
def not_warned() -> list[Any]:
    return _results(lambda x: x * 2 + 1)


@shows("break-time")
def timed() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        time.perf_counter()  # here
        return y + 1

    return _results(run)


@follows("break-time")
def not_timed() -> list[Any]:
    return _results(lambda x: x * 2 + 1)


@shows("break-file")
def reads_a_file() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        with open(__file__) as file:  # here
            n = len(file.readline()) > 0
        return y + n

    return _results(run)


@follows("break-file")
def read_before() -> list[Any]:
    with open(__file__) as file:
        n = torch.tensor(len(file.readline()) > 0)
    return _results(lambda x, n: x * 2 + n, n)


@shows("break-explicit")
def explicit() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        torch._dynamo.graph_break()  # here
        return y + 1

    return _results(run)


@follows("break-explicit")
def none_explicit() -> list[Any]:
    return _results(lambda x: x * 2 + 1)


def _optimizer() -> Any:
    weight = torch.nn.Parameter(torch.ones(4))
    weight.grad = torch.ones(4)
    return torch.optim.SGD([weight], lr=0.1)


@shows("break-optimizer")
def step_inside() -> list[Any]:
    optimizer = _optimizer()

    def run(x: Any) -> Any:
        y = x * 2
        optimizer.step()  # here
        return y + 1

    return [*_results(run), *optimizer.param_groups[0]["params"]]


@follows("break-optimizer")
def step_outside() -> list[Any]:
    optimizer = _optimizer()
    results = _results(lambda x: x * 2 + 1)
    for _ in results:
        optimizer.step()
    return [*results, *optimizer.param_groups[0]["params"]]


@torch.compiler.disable
def left_out(x: Any) -> Any:
    return x * 2


@shows("break-disabled")
def disabled() -> list[Any]:
    def run(x: Any) -> Any:
        y = left_out(x + 1)  # here
        return y + 1

    return _results(run)


@follows("break-disabled")
def enabled() -> list[Any]:
    return _results(lambda x: (x + 1) * 2 + 1)


@shows("break-dynamic-shape")
def nonzero() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        n = torch.nonzero(y)  # here
        return n.sum() + 1

    return _results(run)


@follows("break-dynamic-shape")
def masked() -> list[Any]:
    return _results(lambda x: ((x * 2 != 0) * torch.arange(4)).sum() + 1)


@shows("break-random")
def python_random() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        random.seed(0)  # here
        return y + 1

    return _results(run)


@follows("break-random")
def no_python_random() -> list[Any]:
    random.seed(0)
    return _results(lambda x: x * 2 + 1)


@shows("break-numpy-random")
def numpy_random() -> list[Any]:
    import numpy

    def run(x: Any) -> Any:
        y = x * 2
        level = numpy.random.rand()  # here
        return y + 0 * level

    return _results(run)


@follows("break-numpy-random")
def random_of_torch() -> list[Any]:
    return _results(lambda x: x * 2 + 0 * torch.rand(()))


@shows("break-debugger")
def debugger() -> list[Any]:
    import sys

    def run(x: Any) -> Any:
        y = x * 2
        breakpoint()  # here
        return y + 1

    hook, sys.breakpointhook = sys.breakpointhook, lambda *args, **kwargs: None
    try:
        return _results(run)
    finally:
        sys.breakpointhook = hook


@follows("break-debugger")
def no_debugger() -> list[Any]:
    return _results(lambda x: x * 2 + 1)


LOCK = threading.Lock()


@shows("break-context-manager")
def locked() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        with LOCK:  # here
            y = y + 1
        return y

    return _results(run)


@follows("break-context-manager")
def locked_outside() -> list[Any]:
    compiled = torch.compile(lambda x: x * 2 + 1, backend="eager")
    with LOCK:
        return [compiled(torch.arange(4.0)), compiled(-torch.arange(4.0))]


@shows("break-skipped-function")
def skipped_function() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        n = len(linecache.getline("no file", 1))  # here
        return y + n

    return _results(run)


@follows("break-skipped-function")
def called_before() -> list[Any]:
    n = torch.tensor(len(linecache.getline("no file", 1)))
    return _results(lambda x, n: x * 2 + n, n)


@shows("break-backward")
def backward() -> list[Any]:
    def run(x: Any) -> Any:
        y = (x * x).sum()
        y.backward()  # here
        return y.detach() + 1

    return _results(run, x=torch.arange(4.0, requires_grad=True))


@follows("break-backward")
def backward_outside() -> list[Any]:
    compiled = torch.compile(lambda x: (x * x).sum(), backend="eager")
    x = torch.arange(4.0, requires_grad=True)
    results = []
    for inner_input in (x.clone(), -x):
        y = compiled(inner_input)
        y.backward()
        results.append(y.detach() + 1)
    return results


@shows("break-text-of-tensor")
def string_of_tensor() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        str(y)  # here
        return y + 1

    return _results(run)


@follows("break-text-of-tensor")
def no_string() -> list[Any]:
    return _results(lambda x: x * 2 + 1)


@shows("break-loop-over-data")
def loop() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        for index in range(int(y.abs().max())):  # here
            y = y + index
        return y

    return _results(run)


@follows("break-loop-over-data")
def no_loop() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        n = y.abs().max()
        return y + n * (n - 1) / 2

    return _results(run)


@shows("break-resize")
def resized() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        y.resize_(2, 2)  # here
        return y + 1

    return _results(run)


@follows("break-resize")
def reshaped() -> list[Any]:
    return _results(lambda x: (x * 2).reshape(2, 2) + 1)


@shows("break-boolean-mask")
def masked_select() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        return y[y > 0].sum() + 1  # here

    return _results(run)


@follows("break-boolean-mask")
def masked_sum() -> list[Any]:
    return _results(lambda x: torch.where(x * 2 > 0, x * 2, 0.0).sum() + 1)


@shows("break-in-try")
def broken_in_try() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        try:
            y = y + zlib.crc32(b"depyf") % 3  # here
        except ValueError:
            y = y - 1
        return y + 1

    return _results(run)


@follows("break-in-try")
def try_outside() -> list[Any]:
    try:
        number = zlib.crc32(b"depyf") % 3
    except ValueError:
        number = -1
    return _results(lambda x: x * 2 + number + 1)


@shows("break-c-extension")
def c_extension() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        return y + zlib.crc32(b"depyf") % 3  # here

    return _results(run)


@follows("break-c-extension")
def c_extension_outside() -> list[Any]:
    return _results(lambda x, number: x * 2 + number, zlib.crc32(b"depyf") % 3)


@shows("break-unknown-method")
def unknown_method() -> list[Any]:
    def run(x: Any) -> Any:
        y = x * 2
        return y + RATE.get()  # here

    return _results(run)


@follows("break-unknown-method")
def unknown_method_outside() -> list[Any]:
    return _results(lambda x, rate: x * 2 + rate, RATE.get())


@shows("break-inplace-view")
def view_in_place() -> list[Any]:
    def run(x: Any) -> Any:
        x.unsqueeze_(0)  # here
        return x + 1

    return _results(run)


@follows("break-inplace-view")
def view() -> list[Any]:
    return _results(lambda x: x.unsqueeze(0) + 1)
