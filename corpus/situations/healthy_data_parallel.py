# DistributedDataParallel of a compiled module with one process. pytorch/pytorch#125641.
import os
import tempfile

import torch

os.environ.update(MASTER_ADDR="127.0.0.1")
store = tempfile.NamedTemporaryFile()
torch.distributed.init_process_group("gloo", init_method=f"file://{store.name}", rank=0, world_size=1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
parallel = torch.nn.parallel.DistributedDataParallel(torch.compile(model, backend="aot_eager"))
optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    parallel(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
torch.distributed.destroy_process_group()
