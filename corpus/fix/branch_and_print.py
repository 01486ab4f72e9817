# gone: break-data-dependent-branch break-print
import torch


def f(x):
    if x.mean() > 0:
        x = x * 2
    print("after the branch")
    return x.tanh()


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
