# gone: break-data-dependent-branch
import torch


def f(x):
    if x.mean() > 0:
        x = x * 2
    x = x.sin()
    if x.max() > 0.5:
        x = x - 0.5
    return x


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
