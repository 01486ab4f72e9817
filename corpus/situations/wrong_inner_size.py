# pytorch/pytorch#182972: the second batch does not fit the weight.
import torch

weight = torch.randn(4, 3)


@torch.compile(backend="eager")
def project(x):
    return x.relu() @ weight  # here: mm


project(torch.randn(2, 4))
project(torch.randn(2, 5))
