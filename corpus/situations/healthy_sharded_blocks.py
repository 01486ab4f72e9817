# pytorch/torchtitan: every block is compiled, then sharded with fully_shard, here by one process.
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29731")
dist.init_process_group("gloo", rank=0, world_size=1)


class Feed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), *(Feed(8) for _ in range(3)), nn.Linear(8, 2))
for place in range(1, 4):
    model[place] = torch.compile(model[place], backend="aot_eager", fullgraph=True)
mesh = dist.init_device_mesh("cpu", (1,))
for place in range(1, 4):
    fully_shard(model[place], mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(3):
    loss = model(torch.randn(4, 6)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
