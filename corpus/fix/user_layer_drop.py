# gone: break-data-dependent-branch
import random

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=8, depth=3, layerdrop=0.5):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.layerdrop = layerdrop

    def forward(self, x):
        for layer in self.layers:
            if self.training and random.random() < self.layerdrop:
                continue
            x = torch.tanh(layer(x))
        if torch.isnan(x).any():
            raise RuntimeError("nan in the encoder")
        return x


def make():
    return Encoder().eval()


def inputs(generator):
    return (torch.randn(3, 8, generator=generator),)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Encoder().eval()
    compiled = torch.compile(model, backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(5):
        y = compiled(*inputs(g))
    print(y.shape)
