# pytorch/pytorch#125641: DistributedDataParallel itself is compiled, not the module in it.
import os
import tempfile

import torch

os.environ.update(MASTER_ADDR="127.0.0.1")
store = tempfile.NamedTemporaryFile()
torch.distributed.init_process_group("gloo", init_method=f"file://{store.name}", rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    run(torch.randn(3, 4)).sum().backward()  # here: call
    optimizer.step()
torch.distributed.destroy_process_group()
