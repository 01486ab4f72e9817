# pytorch/pytorch#149405: a Python float is another in each call.
import torch


@torch.compile(backend="eager")
def blend(x, weight):
    return x * weight  # here: use


for weight in (1.5, 2.5, 3.5, 4.5):
    blend(torch.ones(4), weight)
