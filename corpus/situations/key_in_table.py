# pytorch/pytorch#143670: a function asks whether a table has a key, and the table grows.
import torch


@torch.compile(backend="eager")
def step(x, table, key):
    if key in table:  # here: asked
        return x + 1
    return x + 2


step(torch.ones(4), {"a": 1}, "a")
step(torch.ones(4), {"a": 1, "b": 2}, "a")
step(torch.ones(4), {"a": 1, "b": 2, "c": 3}, "a")
