"""A module that counts its calls: the count is a guard, so every call compiles anew, until torch gives up.

    python examples/tutorial/storm.py
"""

import torch
from measuring import compare
from torch import nn


class Before(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(64, 64)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        x = self.linear(x).relu()
        return x / (1 + 0.1 * self.calls)


class After(nn.Module):
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(64, 64)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        x = self.linear(x).relu()
        return x / (1 + 0.1 * self.calls)


if __name__ == "__main__":
    calls = [(torch.ones(8, 64),)] * 12
    with torch.no_grad():
        models = {"before": Before(), "after": After()}
        compare({name: torch.compile(model, backend="eager") for name, model in models.items()}, calls, times=1)
