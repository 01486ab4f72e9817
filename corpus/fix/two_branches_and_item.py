# gone: break-data-dependent-branch break-item
import torch


def f(x, y):
    if x.sum() > y.sum():
        z = x - y
    else:
        z = y - x
    if z.max() > 1:
        z = z / z.max()
    return z * y.abs().mean().item()


def make():
    return f


def inputs(generator):
    return torch.randn(4, generator=generator), torch.randn(4, generator=generator)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(5):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
