# pytorch/pytorch#149405: a factor is an int, then a float, then a tensor.
import torch


@torch.compile(backend="eager")
def gain(x, factor):
    return x * factor  # here: factor


for factor in (3, 2.5, torch.tensor(2.0)):
    gain(torch.ones(3), factor)
