# gone: break-data-dependent-branch
import torch


def f(x):
    if x.sum() > 0 and x.max() < 2:
        y = x + 1
    else:
        y = x - 1
    return y * 2


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(8):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
