"""A rank of a job: `python ranks.py RANK SIZE STORE`; the last rank gets another shape in its third step."""

import sys

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch.nn.parallel import DistributedDataParallel

rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", rank=rank, world_size=size, init_method=f"file://{store}")


@torch.compile
def step(x):
    return x.sin() + 1


@torch.compile(fullgraph=True)
def together(x):
    summed = funcol.all_reduce(x * 2, "sum", dist.group.WORLD)
    whole = funcol.all_gather_tensor(summed, 0, dist.group.WORLD)
    return whole + 1


model = torch.compile(DistributedDataParallel(torch.nn.Linear(8, 8)))
torch._dynamo.config.automatic_dynamic_shapes = False
together(torch.ones(4))
for number in range(3):
    rows = 17 if rank == size - 1 and number == 2 else 16
    step(torch.ones(rows))
model(torch.ones(rows, 8)).sum().backward()
dist.destroy_process_group()
