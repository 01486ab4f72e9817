# gone: break-item break-logging
import logging

import torch

LOG = logging.getLogger("fix")


def f(x):
    y = x * 2
    print(f"max {y.max().item():.2f}")
    z = y.relu()
    LOG.warning("min %s", z.min())
    return z + y


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
