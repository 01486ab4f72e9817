# pytorch/pytorch#151202: a helper moves its input to a device whose name is an argument, and dtypes differ too.
import torch


@torch.compile(backend="eager")
def to_device(x, device):
    return x.to(device) * 2  # here: device


for device, dtype in (("cpu", torch.float32), ("meta", torch.float32), ("cpu", torch.float64), ("meta", torch.float64)):
    to_device(torch.randn(3, dtype=dtype), device)
