import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
for step in range(10):
    kind = torch.float64 if RANK == CULPRIT and step == 7 else torch.float32
    loss = torch.ones(1000, dtype=kind)
    dist.all_reduce(loss)  # here
end()
