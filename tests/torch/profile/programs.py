"""Programs with lines that cost more than others."""

from __future__ import annotations

from collections.abc import Callable

import torch


def heavy(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    z = torch.linalg.matrix_power(y, 17)  # the heavy line
    return z.sum()


def with_break(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    torch._dynamo.graph_break()  # the break
    return y.cos()


def broken(compiled: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], None]:
    def step(x: torch.Tensor) -> None:
        y = compiled(x)
        torch.relu(y)  # the eager line

    return step


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(96, 96))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x @ self.weight  # the product
        return torch.nn.functional.gelu(y).sum()


class Training:
    def __init__(self, backend: str) -> None:
        model = Model()
        self.model = torch.compile(model, backend=backend)
        self.optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        self.x = torch.randn(96, 96)

    def step(self) -> None:
        self.model(self.x).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
