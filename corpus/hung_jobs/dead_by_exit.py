import os

import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
for step in range(40):
    x = torch.ones(8)
    dist.all_reduce(x)  # here
    if RANK == CULPRIT and step == 9:
        os._exit(3)
end()
