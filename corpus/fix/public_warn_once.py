# gone: break-warning
import warnings

import torch

warnings.simplefilter("ignore")


def f(x):
    if x.dim() < 2:
        warnings.warn("a vector was passed", stacklevel=2)
    return x * 3


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
