# pytorch/pytorch#174963: a target shape is a tuple of numbers.
import torch


@torch.compile(backend="eager")
def fold(x, shape):
    return x.view(shape).sum(0)  # here: shape


for shape in ((2, 12), (3, 8), (4, 6), (6, 4)):
    fold(torch.randn(24), shape)
