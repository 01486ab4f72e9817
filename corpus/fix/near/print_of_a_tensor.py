# left: break-print
import sys

import torch


def f(x):
    y = x * 2
    sys.stdout.flush()
    print("first")
    z = y.sum()
    torch._dynamo.graph_break()
    print("second", flush=True)
    return z


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(3):
        step(torch.ones(4))
        print("between")
