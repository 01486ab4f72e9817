# pytorch/pytorch#118493: one compiled function is called by itself, and inside of `torch.vmap`.
import torch


@torch.compile(backend="eager")
def wave(x):
    return torch.sin(x) * 2


wave(torch.ones(3, 4))
torch.vmap(wave)(torch.ones(2, 3, 4))
wave(torch.ones(3, 4))
