import time

import torch
import torch.distributed as dist
from job import end, start

start()


@torch.compile(backend="eager", dynamic=False)
def step(x):
    for _ in range(30):
        x = x * 2
    return x.sum()


for number in range(100):
    loss = step(torch.ones(2 + number // 15))
    dist.all_reduce(loss)
    time.sleep(0.03)
end()
