# cloneofsimo/zeroshampoo#1: every third step refreshes a preconditioner, and a flag says so.
import torch


@torch.compile(backend="eager")
def precondition(grad, factor, refresh):
    if refresh:  # here: flag
        factor = factor + grad @ grad.T
    return factor @ grad


factor = torch.eye(4)
for step in range(7):
    precondition(torch.randn(4, 6), factor, step % 3 == 0)
