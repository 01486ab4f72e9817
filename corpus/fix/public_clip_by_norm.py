# gone: break-data-dependent-branch
import torch


def f(x):
    norm = x.norm()
    if norm > 1.5:
        x = x * (1.5 / norm)
    return x * 2


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
