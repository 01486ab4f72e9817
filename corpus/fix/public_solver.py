# gone: break-data-dependent-branch
import torch


def block(x):
    return (x / 2).sin() + x / 3


def f(x):
    while x.norm() > 1:
        x = block(x)
    return x


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator) * 3,)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(4):
        step(inputs(torch.Generator().manual_seed(seed))[0])
    print("done")
