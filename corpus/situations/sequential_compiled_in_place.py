# pytorch/pytorch#104674: DistributedDataParallel of a compiled model, one process, a sampler, saved and loaded.
import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29747")
dist.init_process_group("gloo", rank=0, world_size=1)
torch.manual_seed(0)
data = TensorDataset(torch.randn(32, 6), torch.randint(0, 3, (32,)))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
model.compile(backend="aot_eager")
parallel = DistributedDataParallel(model)
optimizer = torch.optim.AdamW(parallel.parameters(), lr=1e-3)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(parallel(x), y).backward()
        optimizer.step()
    with tempfile.TemporaryFile() as file:
        torch.save(parallel.module.state_dict(), file)
        file.seek(0)
        parallel.module.load_state_dict(torch.load(file))
dist.destroy_process_group()
