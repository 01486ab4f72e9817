# pytorch/pytorch#91777 and pytorch/pytorch#99551: inputs on another device, and a name that changes once.
import torch


@torch.compile(backend="eager")
def move(x, name):
    return x * len(name)  # here: name


move(torch.ones(3), "cpu")
move(torch.ones(3, device="meta"), "cpu")
move(torch.ones(3), "host")
