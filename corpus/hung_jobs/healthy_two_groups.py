import time

import torch
import torch.distributed as dist
from job import RANKS, end, start

start()
data = dist.new_group(list(range(RANKS)), group_desc="dp")
tensor = dist.new_group(list(range(RANKS)), group_desc="tp")
for step in range(120):
    x = torch.ones(8)
    dist.all_reduce(x, group=data)
    time.sleep(0.02)
    dist.all_reduce(x, group=tensor)
end()
