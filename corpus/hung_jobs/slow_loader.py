import time

import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()


def next_batch(step):
    if RANK == CULPRIT and step == 12:
        time.sleep(600)  # here
    return torch.ones(4, 4)


for step in range(30):
    batch = next_batch(step)
    dist.all_reduce(batch)
end()
