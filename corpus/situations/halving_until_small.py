# pytorch/pytorch#119186: a loop runs until a norm is small; a precision is a name.
import torch


@torch.compile(backend="eager")
def shrink(x, precision):
    x = x * len(precision)  # here: precision
    while x.norm() > 1:  # here: loop
        x = x / 2
    return x


shrink(torch.ones(3) * 4, "high")
shrink(torch.ones(3) * 4, "medium")
