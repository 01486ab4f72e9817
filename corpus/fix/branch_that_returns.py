# gone: break-data-dependent-branch
import torch


def f(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    else:
        return y - 1


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(8):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
