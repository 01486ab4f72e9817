# gone: global-constant
import os

import torch

os.environ.setdefault("SCALE", "0.5")


def f(x):
    return x * float(os.environ["SCALE"])


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(5):
        os.environ["SCALE"] = str(seed + 0.5)
        step(inputs(torch.Generator().manual_seed(seed))[0])
    print("done")
