"""Models whose blocks are equal graphs."""

from __future__ import annotations

from typing import Any

import torch

from corpus.advice.pair import follows, shows


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)

    def forward(self, x: Any) -> Any:
        return x + self.down(torch.relu(self.up(x)) * 0.5)  # here


def layers() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(*(Block() for _ in range(6))).requires_grad_(False)


@shows("repeated-blocks")
def whole_model() -> list[Any]:
    model = layers()
    compiled = torch.compile(model, backend="eager")
    return [compiled(torch.ones(2, 8))]


@follows("repeated-blocks")
def block_by_block() -> list[Any]:
    model = layers()
    for block in model:
        block.compile(backend="eager")
    return [model(torch.ones(2, 8))]
