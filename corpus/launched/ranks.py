"""Two ranks under torchrun, with gloo: a step of data-parallel training."""

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
step = torch.compile(model, backend="aot_eager")
loss = step(torch.full((3, 4), 1.0 + rank)).sum()
loss.backward()
gradient = model.module.weight.grad.flatten()[:2].tolist()
with open(f"rank_{rank}.txt", "w") as file:
    print(rank, os.environ["WORLD_SIZE"], round(loss.item(), 4), gradient, file=file)
dist.barrier()
dist.destroy_process_group()
