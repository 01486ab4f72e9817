# pytorch/pytorch#114293: a loop in the compiled function ends at an argument.
import torch


@torch.compile(backend="eager")
def accumulate(x, end):
    for index in range(1, end):  # here: loop
        x = x + x.roll(index)
    return x


for end in (3, 4, 5, 6, 7):
    accumulate(torch.randn(8), end)
