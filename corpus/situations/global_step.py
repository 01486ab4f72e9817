# pytorch/pytorch#133483: a global number counts, and the compiled function reads it.
import torch

step = 3


@torch.compile(backend="eager")
def scale(x):
    return x * step  # here: step


for _ in range(6):
    step += 1
    scale(torch.ones(5))
