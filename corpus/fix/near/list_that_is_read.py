# left: growing-container
import torch

HISTORY = []


def f(x):
    HISTORY.append(x.mean())
    return x * len(HISTORY)


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(6):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
