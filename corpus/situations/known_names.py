# pytorch/pytorch#110682: a global set of names grows, and the compiled function asks whether a name is in it.
import torch

KNOWN = {"a"}


@torch.compile(backend="eager")
def weigh(x, name):
    return x * 2 if name in KNOWN else x * 3  # here: known


weigh(torch.ones(2), "b")
KNOWN.add("b")
weigh(torch.ones(2), "b")
