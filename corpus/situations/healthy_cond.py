# A branch on values, written with torch.cond. pytorch/pytorch#156724.
import torch


@torch.compile(backend="eager")
def scale(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


for value in (1.0, -1.0, 2.0):
    scale(torch.full((3,), value))
