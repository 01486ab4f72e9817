# gone: break-data-dependent-branch break-time
import time
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
timings = {}


def timed(name):
    def wrap(fn):
        def inner(*args):
            start = time.perf_counter()
            out = fn(*args)
            timings[name] = time.perf_counter() - start
            return out

        return inner

    return wrap


net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))


@timed("forward")
def forward(x):
    out = net(x)
    if out.std() < 1e-6:
        warnings.warn("the outputs collapsed", stacklevel=2)
    return out


def make():
    return forward


def inputs(generator):
    return (torch.randn(5, 8, generator=generator),)


if __name__ == "__main__":
    fast = torch.compile(forward, backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(5):
        y = fast(*inputs(g))
    print(y.shape, "forward" in timings)
