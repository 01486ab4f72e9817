# pytorch/pytorch#136559: arguments are arrays of numpy in several sizes, and one is of another type.
import numpy
import torch


@torch.compile(backend="eager")
def scale(values):
    return values * 2 + 1  # here: values


for size in (3, 5, 7):
    scale(numpy.ones(size, dtype=numpy.float32))
scale(numpy.ones(7, dtype=numpy.float64))
