# gone: break-data-dependent-branch
import torch


def f(x):
    score = x.mean()
    if score > 0:
        gate = x.sigmoid()
        value = x * 2
    else:
        gate = x.tanh()
        value = x - 1
    return gate * value


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
