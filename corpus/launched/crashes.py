"""Ends by an exception that is raised inside of compiled code, with another one as its cause."""

import torch
from compiled import broken, some


@torch.compile(backend="eager")
def fails(x):
    torch._dynamo.graph_break()
    return x[10]


print(broken(some()).tolist(), flush=True)
try:
    fails(some())
except IndexError as error:
    raise ValueError("of the program") from error
