# gone: break-deepcopy
import copy

import torch


def f(x):
    y = x * 2
    z = copy.deepcopy(y)
    return z.add_(1) + y


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
