# pytorch/pytorch#131975: an argument asks for gradients in the second call, under no_grad.
import torch


@torch.compile(backend="eager")
def blend(a, b):
    return (a * b).clamp(min=0)  # here: use


a = torch.randn(5, 5)
b = torch.randn(5, 5)
with torch.no_grad():
    blend(a, b)
    a.requires_grad_(True)
    blend(a, b)
