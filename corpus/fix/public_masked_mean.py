# gone: break-dynamic-shape break-boolean-mask
import torch


def f(x):
    kept = x[x > 0]
    return kept.sum() / (kept.numel() + 1)


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
