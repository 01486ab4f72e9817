"""Small programs to compile, each with one thing to show."""

from __future__ import annotations

import torch
from torch import Tensor


def branching(a: Tensor, b: Tensor) -> Tensor:
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def straight(x: Tensor) -> Tensor:
    return torch.sin(x) + 1


def breaking_in_a_loop(x: Tensor) -> Tensor:
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()
    return x


def breaking_once(x: Tensor) -> Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def _breaking_inside(x: Tensor) -> Tensor:
    x = x - 1
    torch._dynamo.graph_break()
    return x


def breaking_in_a_callee(x: Tensor) -> Tensor:
    """Dynamo finds the break while it inlines the callee, and begins anew without inlining it."""
    return _breaking_inside(x * 3) + 1


def other_program(x: Tensor) -> Tensor:
    return torch.cos(x) * 3
