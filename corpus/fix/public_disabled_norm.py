# gone: break-disabled
import torch


@torch.compiler.disable
def norm(x):
    return x / x.norm()


def f(x):
    y = x * 2
    y = norm(y)
    return y.sin()


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
