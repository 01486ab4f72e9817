# pytorch/pytorch#141486: each sequence begins without a hidden state, and sequences have several lengths.
import torch

weight = torch.randn(4, 4)


@torch.compile(backend="eager")
def cell(x, hidden=None):
    x = x.mean(0)
    if hidden is not None:  # here: hidden
        x = x + hidden @ weight
    return x.tanh()


with torch.no_grad():
    for length in (5, 8, 6):
        hidden = cell(torch.randn(length, 4))
        for _ in range(2):
            hidden = cell(torch.randn(length, 4), hidden)
