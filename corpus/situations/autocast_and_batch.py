# pytorch/pytorch#112260: autocast comes in later, and the batch grows.
import torch

weight = torch.randn(4, 4)


@torch.compile(backend="eager")
def project(x):
    return x @ weight


project(torch.randn(3, 4))
project(torch.randn(5, 4))
with torch.autocast("cpu", dtype=torch.bfloat16):
    project(torch.randn(6, 4))
project(torch.randn(7, 4))
