# pytorch/pytorch#167504: with fullgraph=True the limit is an error.
import torch


@torch.compile(backend="eager", fullgraph=True)
def run(x, name):
    return x * len(name)  # here: name


for number in range(12):
    run(torch.ones(2), "n" * (number + 1))
