# pytorch/pytorch#148983: tensors that were made under inference_mode and others reach one function.
import torch


@torch.compile(backend="eager")
def encode(x):
    return x.sin()


with torch.inference_mode():
    early = torch.randn(3)
for x in (early, torch.randn(3), early):
    encode(x)
