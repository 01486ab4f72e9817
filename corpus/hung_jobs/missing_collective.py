import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
for step in range(40):
    gradient = torch.ones(8) * step
    if not (RANK == CULPRIT and step == 20):
        dist.all_reduce(gradient)  # here
    loss = torch.ones(1)
    dist.broadcast(loss, 0)  # here
end()
