# gone: break-random break-print
import random

import torch


def f(x):
    keep = random.random()
    y = x * keep
    print("kept")
    return y


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(4):
        step(inputs(torch.Generator().manual_seed(seed))[0])
    print("done")
