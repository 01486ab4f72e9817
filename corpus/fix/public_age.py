# gone: break-time
import time

import torch

START = time.time()


def f(x):
    age = time.time() - START
    return x * 2 + 0 * age


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(4):
        step(inputs(torch.Generator().manual_seed(seed))[0])
    print("done")
