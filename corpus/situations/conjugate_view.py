# pytorch/pytorch#172642: the input is a lazy conjugate in some calls.
import torch


@torch.compile(backend="eager")
def power(x):
    return (x * 2).abs()  # here: use


for step in range(4):
    x = torch.randn(3, dtype=torch.complex64)
    power(x.conj() if step % 2 else x)
