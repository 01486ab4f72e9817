# gone: break-data-dependent-branch object-float
import torch
from torch import nn


class Scaler:
    def __init__(self, scale=1024.0, growth=2.0):
        self.scale = scale
        self.growth = growth
        self.good_steps = 0


scaler = Scaler()
model = nn.Linear(6, 3)


def scaled_loss(x, y):
    loss = (model(x) - y).pow(2).mean() * scaler.scale
    if not torch.isfinite(loss):
        loss = torch.zeros_like(loss)
    return loss


def make():
    return scaled_loss


def inputs(generator):
    return torch.randn(4, 6, generator=generator), torch.randn(4, 3, generator=generator)


def main():
    torch.manual_seed(0)
    step = torch.compile(scaled_loss, backend="eager")
    g = torch.Generator().manual_seed(0)
    for i in range(12):
        loss = step(*inputs(g))
        loss.backward()
        scaler.scale = scaler.scale * 1.05
    print(loss.shape)


if __name__ == "__main__":
    main()
