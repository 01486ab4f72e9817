import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
for step in range(40):
    loss = torch.ones(()) / (step + 1)
    if RANK == CULPRIT and loss < 0.1:
        break
    dist.all_reduce(loss)  # here
dist.barrier()  # here
end()
