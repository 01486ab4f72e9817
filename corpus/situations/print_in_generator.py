# pytorch/pytorch#93737: a generator that prints is consumed in the compiled function.
import torch


def blocks(x):
    for part in x.split(2):
        print("part")  # here: print
        yield part * 2


@torch.compile(backend="eager")
def total(x):
    return sum(part.sum() for part in blocks(x))


for _ in range(2):
    total(torch.randn(6))
