import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()
world = dist.get_world_size()


def reduce(x):
    dist.all_reduce(x)  # here


def gather(x):
    dist.all_gather([torch.empty_like(x) for _ in range(world)], x)  # here


for step in range(9):
    x = torch.ones(16)
    calls = [gather, reduce] if RANK == CULPRIT and step == 4 else [reduce, gather]
    for call in calls:
        call(x)
end()
