# gone: break-logging break-data-dependent-branch
import logging

import torch

LOG = logging.getLogger("model")


def f(x):
    y = x.tanh()
    if y.sum() > 0:
        y = y * 3
    LOG.warning("step")
    return y


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
