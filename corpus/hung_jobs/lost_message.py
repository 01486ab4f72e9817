import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
for step in range(10):
    x = torch.ones(4)
    dist.all_reduce(x)
    if RANK == CULPRIT and step == 5:
        continue
    dist.reduce(x, 0)  # here
    dist.all_reduce(x)  # here
end()
