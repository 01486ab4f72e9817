# pytorch/pytorch#128071 and pytorch/pytorch#141589: three functions of one loop, each with two causes of its own.
import torch

LEVEL = 3


@torch.compile(backend="eager")
def encode(x, mode, scaled):
    x = x * len(mode)  # here: mode
    return x / 2 if scaled else x  # here: scaled


@torch.compile(backend="eager")
def gather(parts):
    return torch.stack(parts).sum(0)  # here: parts


@torch.compile(backend="eager")
def decide(x):
    x = x * LEVEL  # here: level
    return x.max().item()  # here: item


encode(torch.ones(3), "a", True)
encode(torch.ones(3), "bb", True)
encode(torch.ones(3), "bb", False)
for count in (2, 3, 4):
    gather([torch.ones(2)] * count)
gather([torch.ones(2, dtype=torch.float64)] * 4)
for _ in range(4):
    LEVEL += 2
    decide(torch.ones(3))
