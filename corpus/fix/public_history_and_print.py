# gone: growing-container break-print
import torch

LOSSES = []


def f(x):
    loss = (x * x).sum()
    LOSSES.append(loss)
    print("kept")
    return loss / 2


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(6):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
