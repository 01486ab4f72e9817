# gone: break-dynamic-shape break-boolean-mask break-data-dependent-branch
import torch


def f(x):
    total = x[x > 0].sum()
    if total > 1:
        total = total / 2
    return total


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
