import torch
import torch.distributed as dist
from job import CULPRIT, RANK, RANKS, end, start

start()
data = dist.new_group(list(range(RANKS)), group_desc="dp")
tensor = dist.new_group(list(range(RANKS)), group_desc="tp")
for step in range(10):
    x, y = torch.ones(8), torch.ones(4)
    if RANK == CULPRIT and step == 6:
        dist.all_reduce(y, group=tensor)  # here
        dist.all_reduce(x, group=data)
    else:
        dist.all_reduce(x, group=data)  # here
        dist.all_reduce(y, group=tensor)
end()
