import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()


@torch.compile(backend="eager", dynamic=False)
def step(x):
    for _ in range(3 if x.shape[0] == 4 else 40000):
        x = x * 1.5 + 1
    return x


for number in range(10):
    rows = 3 if RANK == CULPRIT and number == 5 else 4
    out = step(torch.ones(rows, 2)).sum()  # here
    dist.all_reduce(out)  # here
end()
