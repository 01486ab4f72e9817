# pytorch/rl#3297: a helper is left out of the compile, and a name selects a branch.
import torch


@torch.compiler.disable
def record(x):
    return x.detach()


@torch.compile(backend="eager")
def update(x, kind):
    x = x * 2 if kind == "actor" else x * 3 if kind == "critic" else x  # here: kind
    record(x)  # here: disabled
    return x.sum()


for kind in ("actor", "critic", "entropy"):
    update(torch.randn(4), kind)
