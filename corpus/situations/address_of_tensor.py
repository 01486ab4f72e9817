# pytorch/pytorch#128071: the alignment of a tensor's address is checked.
import torch


def aligned(x):
    return x if x.data_ptr() % 16 == 0 else x.clone()  # here: address


@torch.compile(backend="eager")
def norm(x):
    return aligned(x * 1).norm()


for _ in range(3):
    norm(torch.randn(4))
