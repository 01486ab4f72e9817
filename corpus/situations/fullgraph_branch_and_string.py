# pytorch/pytorch#194768: one function recompiles for names; another one needs a full graph and has a branch on values.
import torch


@torch.compile(backend="eager")
def select(x, name):
    return x * len(name)  # here: name


@torch.compile(backend="eager", fullgraph=True)
def rectify(x):
    if x.sum() > 0:  # here: branch
        return x
    return -x


for name in ("a", "bb", "ccc"):
    select(torch.ones(2), name)
rectify(torch.ones(2))
