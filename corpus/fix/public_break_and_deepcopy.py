# gone: break-explicit break-deepcopy
import copy

import torch


def f(x):
    before = copy.deepcopy(x)
    torch._dynamo.graph_break()
    return x * 2 + before


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
