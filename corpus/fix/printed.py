# gone: break-print
import torch


def f(x):
    y = x.cos()
    print("in f")
    return y.sum()


def make():
    return f


def inputs(generator):
    return (torch.randn(5, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(3):
        step(*inputs(torch.Generator().manual_seed(seed)))
