# gone: break-data-dependent-branch break-print
import torch


def f(x):
    loss = (x * x).mean()
    if loss > 1:
        loss = loss / 2
    print("loss computed")
    return loss


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
