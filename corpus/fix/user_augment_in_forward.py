# gone: all
# Random augmentation with Python's and NumPy's generators inside of the compiled module.
import random

import numpy as np
import torch
from torch import nn


class Augment(nn.Module):
    def __init__(self, noise=0.1, p_flip=0.5):
        super().__init__()
        self.noise = noise
        self.p_flip = p_flip

    def forward(self, images):
        if random.random() < self.p_flip:
            images = images.flip(-1)
        gain = np.random.uniform(0.8, 1.2)
        return images * gain


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.augment = Augment()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.head = nn.Linear(4, 2)

    def forward(self, images):
        if self.training:
            images = self.augment(images)
        return self.head(self.conv(images).relu().mean((2, 3)))


def make():
    return Net()


def inputs(generator):
    return (torch.randn(4, 1, 6, 6, generator=generator),)


def main():
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    net = Net()
    compiled = torch.compile(net, backend="aot_eager")
    g = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(8):
        out = compiled(*inputs(g))
        loss = out.pow(2).mean()
        loss.backward()
        losses.append(loss.item())
    print("losses", [round(value, 3) for value in losses])


if __name__ == "__main__":
    main()
