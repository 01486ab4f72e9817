# microsoft/dion#23: one compiled update serves all parameters of a model.
import torch


@torch.compile(backend="eager")
def orthogonalize(weight, momentum):
    return (weight - momentum @ momentum.T @ weight).sum()  # here: weight


for width in range(4, 15):
    weight = torch.nn.Parameter(torch.randn(3, width))
    orthogonalize(weight, torch.randn(3, 3))
