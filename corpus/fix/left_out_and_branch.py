# gone: break-disabled break-data-dependent-branch
import torch


@torch.compiler.disable
def scaled(x):
    return x * 3


def f(x):
    y = scaled(x)
    if y.mean() > 0:
        y = y * 2
    return y + 1


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
