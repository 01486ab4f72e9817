# Accumulation under no_sync of DistributedDataParallel around a compiled module.
import contextlib
import os
import tempfile

import torch

os.environ.update(MASTER_ADDR="127.0.0.1")
store = tempfile.NamedTemporaryFile()
torch.distributed.init_process_group("gloo", init_method=f"file://{store.name}", rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.compile(torch.nn.Linear(6, 2), backend="aot_eager"))
optimizer = torch.optim.AdamW(model.parameters())
for step in range(6):
    with model.no_sync() if step % 3 < 2 else contextlib.nullcontext():
        (model(torch.randn(4, 6)).square().mean() / 3).backward()
    if step % 3 == 2:
        optimizer.step()
        optimizer.zero_grad()
torch.distributed.destroy_process_group()
