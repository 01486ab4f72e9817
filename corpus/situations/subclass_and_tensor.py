# pytorch/pytorch#187073: the input is a subclass of Tensor in every second call.
import torch


class Gathered(torch.Tensor):
    pass


@torch.compile(backend="eager")
def project(weight):
    return weight.cos() + 1  # here: use


for step in range(6):
    weight = torch.randn(4)
    project(weight.as_subclass(Gathered) if step % 2 else weight)
