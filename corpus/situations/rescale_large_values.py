# pytorch/pytorch#119186: a condition on values and a print of them, in one function.
import torch


@torch.compile(backend="eager")
def rescale(x):
    x = x * 2
    if x.abs().max() > 3:  # here: branch
        x = x / 3
    print("rescaled", x.shape)  # here: print
    return x.tanh()


for factor in (0.1, 10.0, 0.1):
    rescale(torch.ones(4) * factor)
