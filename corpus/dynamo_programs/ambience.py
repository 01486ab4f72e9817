"""The state around the code: grad mode, autocast, default dtype, profiler marks; set around breaks and left open."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor
from torch._dynamo import graph_break

from corpus.dynamo_programs.program import Programs, Value

program = Programs()


def wanting_grad() -> list[tuple[Value, ...]]:
    """Return calls with a tensor that requires a gradient, and one that does not."""
    return [(torch.ones(3, requires_grad=True),), (torch.ones(3),)]


@program(wanting_grad)
def grad_mode_around_a_break(x: Tensor) -> tuple[Tensor, bool]:
    torch.set_grad_enabled(False)
    y = x * 2
    graph_break()
    z = y + 1
    torch.set_grad_enabled(True)
    return z, torch.is_grad_enabled()


@program(wanting_grad)
def grad_mode_read_after_a_break(x: Tensor) -> tuple[Tensor, bool]:
    with torch.no_grad():
        y = x * 2
        graph_break()
        inside = torch.is_grad_enabled()
    return y + x, inside


@program(wanting_grad)
def no_grad_after_a_break(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    graph_break()
    with torch.no_grad():
        z = y + 1
    return z, y


@program(wanting_grad)
def inference_mode(x: Tensor) -> Tensor:
    with torch.no_grad():
        y = x + 1
        if y.sum() > 100:
            y = y - 1
        y = y * 2
    return y + x


@program(wanting_grad)
def two_managers(x: Tensor) -> Tensor:
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        y = torch.mm(x.reshape(3, 1), x.reshape(1, 3))
        graph_break()
        z = torch.mm(y.to(torch.bfloat16), y.to(torch.bfloat16))
    return z.float() + x


@torch.no_grad()
def decorated(x: Tensor) -> Tensor:
    y = x * 2
    graph_break()
    return y + 1


@program(wanting_grad)
def calls_a_decorated_function(x: Tensor) -> Tensor:
    return decorated(x) + x


@program(wanting_grad)
def enable_grad_in_no_grad(x: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
        graph_break()
        c = x * 4
    return a + c, b


@program(wanting_grad)
def disabled_function(x: Tensor) -> Tensor:
    y = x + 1
    y = not_compiled(y)
    return y * 2


@torch._dynamo.disable
def not_compiled(x: Tensor) -> Tensor:
    return x - 5


@program(wanting_grad)
def warns(x: Tensor) -> Tensor:
    y = x + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("quiet", stacklevel=1)
    return y * 2


@program(lambda: [(torch.ones(n),) for n in (2, 3, 4, 5)])
def dynamic_sizes(x: Tensor) -> Tensor:
    y = x + x.shape[0]
    graph_break()
    return y.reshape(-1, 1) * x.shape[0]


@program(lambda: [(torch.ones(3), n) for n in (1, 2, 3, 4)])
def dynamic_numbers(x: Tensor, n: int) -> tuple[Tensor, int]:
    y = x + n
    graph_break()
    return y * n, n + 1


@program()
def no_tensors(x: Tensor) -> int:
    n = x.dim()
    graph_break()
    return n + 1


@program()
def returns_its_argument(x: Tensor) -> Tensor:
    graph_break()
    return x


@program()
def returns_the_same_twice(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x + 1
    graph_break()
    return y, y, x
