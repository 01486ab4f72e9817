# gone: break-data-dependent-branch break-print break-logging
import logging

import torch
from torch import nn

logger = logging.getLogger("model")


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        y = self.fc(x)
        if y.abs().max() > 100:
            logger.warning("large activations: %s", y.abs().max())
        return torch.relu(y) + x


class Model(nn.Module):
    def __init__(self, dim=8, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = block(x)
            print(f"block {i}: {x.mean().item():.1f}")
        return x


def make():
    return Model()


def inputs(generator):
    return (torch.randn(3, 8, generator=generator),)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Model(), backend="aot_eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(4):
        model(*inputs(g))
