# left: break-random
import random

import torch


def f(x):
    if x.dim() == 1:
        x = x * random.random()
    return x


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(4):
        step(inputs(torch.Generator().manual_seed(seed))[0])
    print("done")
