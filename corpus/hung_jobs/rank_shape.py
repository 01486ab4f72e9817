import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
for step in range(10):
    rows = 4
    if RANK == CULPRIT and step == 6:
        rows = 7
    batch = torch.ones(rows, 64)
    dist.all_reduce(batch)  # here
end()
