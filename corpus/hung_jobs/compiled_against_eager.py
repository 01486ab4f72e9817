import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from job import CULPRIT, RANK, end, start

start()
world = dist.group.WORLD


@torch.compile(backend="aot_eager")
def gather(x):
    return functional.all_gather_tensor(x * 2, 0, world)  # here


def gather_eager(x):
    x = x * 2
    dist.all_reduce(x)  # here
    return x


for step in range(8):
    x = torch.ones(4)
    if RANK == CULPRIT and step == 5:
        gather_eager(x)
    else:
        gather(x)
end()
