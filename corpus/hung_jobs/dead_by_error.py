import time

import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()


def load(step):
    files = ["a", "b", "c"] if RANK == CULPRIT else ["a"] * 100
    return torch.ones(8) * len(files[step])  # here


for step in range(40):
    x = load(step)
    dist.all_reduce(x)
    time.sleep(0.02)
end()
