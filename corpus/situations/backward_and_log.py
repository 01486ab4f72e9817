# meta-pytorch/torchtune#2263: a whole step is compiled, with backward and a number for the log.
import torch

weight = torch.nn.Parameter(torch.ones(3))


@torch.compile(backend="eager")
def step(x):
    loss = (x * weight).square().sum()
    loss.backward()  # here: backward
    return loss.item() * 2  # here: item


for _ in range(3):
    step(torch.ones(3))
