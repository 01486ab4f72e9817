"""A rank of a job: `python sharded.py RANK SIZE STORE`; FSDP2 and tensor parallel, the last rank has a longer batch."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", rank=rank, world_size=size, init_method=f"file://{store}")
mesh = init_device_mesh("cpu", (size,))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.down(self.up(x).relu())


torch.manual_seed(0)
torch._dynamo.config.automatic_dynamic_shapes = False
sharded = Block()
fully_shard(sharded, mesh=mesh)
split = parallelize_module(Block(), mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
compiled_sharded = torch.compile(sharded, backend="aot_eager")
compiled_split = torch.compile(split, backend="aot_eager")
for number in range(3):
    rows = 17 if rank == size - 1 and number == 2 else 16
    compiled_sharded(torch.ones(rows, 8)).sum().backward()
    compiled_split(torch.ones(16, 8)).sum().backward()
dist.destroy_process_group()
