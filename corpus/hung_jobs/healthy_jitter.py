import random
import time

import torch
import torch.distributed as dist
from job import RANK, end, start

start()
random.seed(RANK)
for step in range(60):
    time.sleep(random.uniform(0, 0.12))
    dist.all_reduce(torch.ones(4))
    dist.broadcast(torch.ones(2), 0)
end()
