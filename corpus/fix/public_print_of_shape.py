# gone: break-print
import torch


def f(x):
    y = x @ x.T
    print("shape", tuple(y.shape))
    return y.sum(0)


def make():
    return f


def inputs(generator):
    return (torch.randn(3, 5, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
