import torch
import torch.distributed as dist
from job import CULPRIT, RANK, RANKS, end, start

start()
data = dist.new_group(list(range(RANKS)), group_desc="dp")
tensor = dist.new_group(list(range(RANKS)), group_desc="tp")
for step in range(10):
    x = torch.ones(8)
    dist.all_reduce(x, group=data)
    group = data if RANK == CULPRIT and step == 4 else tensor
    dist.all_reduce(x, group=group)  # here
end()
