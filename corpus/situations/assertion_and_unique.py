# pytorch/pytorch#114220: values are asserted, and then the different ones are counted.
import torch


@torch.compile(backend="eager")
def vocabulary(x):
    x = x + 1
    assert x.min() > 0  # here: assert
    values = torch.unique(x)  # here: unique
    return values * 2


for _ in range(3):
    vocabulary(torch.randint(0, 5, (8,)))
