# pytorch/pytorch#131893: the size of an argument changes that the function does not use.
import torch


@torch.compile(backend="eager")
def step(x, extra):
    return x * 2


for size in (4, 6, 9, 5):
    step(torch.ones(3), torch.ones(size))
