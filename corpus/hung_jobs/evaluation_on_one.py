import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()


@torch.compile(backend="aot_eager")
def train(x):
    return (x * 2).sum()


@torch.compile(backend="aot_eager")
def evaluate(x):
    for _ in range(20000):
        x = x.sin() + 1
    return x


for number in range(10):
    loss = train(torch.ones(4))
    dist.all_reduce(loss)
    if number == 3 and RANK == CULPRIT:
        evaluate(torch.ones(4))  # here
    dist.barrier()  # here
end()
