# pytorch/pytorch#174166: a check warns about values that are too large.
import warnings

import torch


@torch.compile(backend="eager")
def check(x):
    y = x.exp()
    if y.max() > 50:  # here: branch
        warnings.warn("values are large", stacklevel=1)  # here: warn
    return y - 1


for factor in (1.0, 5.0, 1.0):
    check(torch.ones(3) * factor)
