# Lightning-AI/litgpt#1583: the first call makes a mask and keeps it in an attribute that was None.
import torch


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        if self.mask is None:  # here: mask
            self.mask = torch.ones(8, 8).tril()
        return x @ self.mask


run = torch.compile(Attention(), backend="eager")
for _ in range(4):
    run(torch.randn(2, 8))
