# pytorch/pytorch#177355: a compiled function calls another one, and a name is handed on.
import torch


@torch.compile(backend="eager")
def inner(x, name):
    return x * len(name)  # here: inner


@torch.compile(backend="eager")
def outer(x, name):
    return inner(x + 1, name).sum()


for name in ("a", "bb", "ccc"):
    outer(torch.ones(2), name)
