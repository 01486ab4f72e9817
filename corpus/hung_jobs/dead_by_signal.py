import os
import signal
import time

import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
for step in range(60):
    x = torch.ones(8)
    dist.all_reduce(x)  # here
    time.sleep(0.02)
    if RANK == CULPRIT and step == 30:
        os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does when memory runs out
end()
