# pytorch/pytorch#137068: a function measures its own time.
import time

import torch


@torch.compile(backend="eager")
def timed(x):
    y = x.sin()
    start = time.time()  # here: time
    return y.cos() + start


for _ in range(3):
    timed(torch.randn(4))
