# gone: break-disabled break-print
import torch


@torch.compiler.disable
def scale(x):
    return x * 0.5


def f(x):
    y = scale(x)
    print("scaled")
    return y + 1


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
