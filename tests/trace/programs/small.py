"""A program with what a trace can tell of: breaks, recompiles, a failure, a backward, several graphs."""

import sys

import torch
import torch._dynamo

BACKEND = sys.argv[1] if len(sys.argv) > 1 else "aot_eager"


def scaled(x, n):
    return x.sin() * n


@torch.compile(backend=BACKEND)
def step(x, n):
    y = scaled(x, n)
    torch._dynamo.graph_break()
    return y.cos()


@torch.compile(backend=BACKEND)
def loss(w, x):
    return (w * x).sum()


def broken(graph, inputs):
    raise RuntimeError("this backend compiles nothing")


@torch.compile(backend=broken)
def never(x):
    return x + 1


step(torch.ones(4), 2)
step(torch.ones(5), 2)
step(torch.ones(5), 3)
weight = torch.ones(4, requires_grad=True)
loss(weight, torch.ones(4)).backward()
try:
    never(torch.ones(2))
except Exception as error:
    print(type(error).__name__)
