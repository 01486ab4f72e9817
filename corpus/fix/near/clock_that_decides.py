# left: break-time
import time

import torch


def f(x):
    return x * time.perf_counter_ns()


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(4):
        print(step(inputs(torch.Generator().manual_seed(seed))[0]))
    print("done")
