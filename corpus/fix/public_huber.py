# gone: break-data-dependent-branch
import torch


def f(x, y):
    error = (x - y).abs().mean()
    if error < 1.0:
        loss = error * error / 2
    else:
        loss = error - 0.5
    return loss


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator), torch.randn(4, generator=generator))


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
