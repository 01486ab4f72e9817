# meta-pytorch/torchtune#2263: rows to keep are a Python list of indices, and the list has several lengths.
import torch


@torch.compile(backend="eager")
def kept(x, rows):
    return x[rows].sum(0)  # here: index


for rows in ([0, 2], [1, 3], [0, 1, 4], [2, 3, 5, 6]):
    kept(torch.randn(8, 4), rows)
