import time

import torch
import torch.distributed as dist
from job import end, start

start()
for step in range(100):
    works = [dist.all_reduce(torch.ones(4), async_op=True) for _ in range(4)]
    time.sleep(0.03)
    for work in works:
        work.wait()
end()
