# pytorch/pytorch#151202 and pytorch/pytorch#148874: the default device is set, and later a device is entered.
import torch


@torch.compile(backend="eager")
def noise(size):
    return torch.zeros(size) + 1


noise(4)
torch.set_default_device("meta")
noise(4)
torch.set_default_device(None)
with torch.device("meta"):
    noise(4)
