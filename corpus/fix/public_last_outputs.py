# gone: growing-container dict-filled-in-call dict-keys
import torch

LAST = {}


def f(x):
    y = x.cos()
    LAST["cos"] = y
    LAST["sin"] = x.sin()
    return y + 1


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(6):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
