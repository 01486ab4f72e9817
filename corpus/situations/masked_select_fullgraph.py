# pytorch/pytorch#165421: masked_select under fullgraph=True.
import torch


@torch.compile(backend="eager", fullgraph=True)
def positive(x):
    return x.masked_select(x > 0) * 2  # here: select


positive(torch.randn(3, 4))
