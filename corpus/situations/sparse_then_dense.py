# pytorch/pytorch#187073: a graph layer gets a sparse matrix in some calls and a dense one in others.
import torch

layer = torch.nn.Linear(4, 4)


@torch.compile(backend="eager")
def propagate(adjacency, x):
    return layer(adjacency @ x)


dense = (torch.rand(6, 6) > 0.5).float()
for adjacency in (dense, dense, dense.to_sparse(), dense):
    propagate(adjacency, torch.randn(6, 4))
