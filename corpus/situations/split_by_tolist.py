# pytorch/pytorch#116703: tokens are split by numbers that are read out of a tensor.
import torch


@torch.compile(backend="eager")
def route(x, counts):
    x = x * 2
    parts = x.split(counts.tolist())  # here: tolist
    return torch.stack([part.sum(0) for part in parts])


for _ in range(3):
    route(torch.randn(6, 4), torch.tensor([1, 2, 3]))
