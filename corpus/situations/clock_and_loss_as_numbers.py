# pytorch/pytorch#149405: the time and the last loss are passed as floats.
import torch


@torch.compile(backend="eager")
def smooth(x, now, last):
    return x.mean() * 0.9 + last * 0.1 + now * 0  # here: use


last = 1.25
for step in range(6):
    last = smooth(torch.rand(3), 1461.88 + step, last).item()
