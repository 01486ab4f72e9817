# pytorch/pytorch#121369: which layers are kept is drawn before the call and passed as flags.
import torch


@torch.compile(backend="eager")
def stack(x, keep):
    if keep[0]:  # here: first
        x = x.sin()
    if keep[1]:  # here: second
        x = x.cos()
    return x.sum()


for keep in ((True, True), (True, False), (False, True), (False, False), (True, True)):
    stack(torch.randn(4), keep)
