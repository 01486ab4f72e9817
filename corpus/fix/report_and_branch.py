# gone: break-item break-data-dependent-branch
import torch


def f(x):
    y = x * 2
    print(f"max {y.max().item():.2f}")
    if y.sum() > 0:
        y = y + 1
    else:
        y = y - 1
    return y * 3


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
