import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()


@torch.compile(backend="aot_eager")
def step(x):
    return (x * 2).sin()


for number in range(12):
    x = step(torch.ones(4))
    dist.all_reduce(x)
    if RANK == CULPRIT and number == 5:
        dist.broadcast(x, 0)  # here
    else:
        dist.all_gather_into_tensor(torch.empty(4 * dist.get_world_size()), x)  # here
end()
