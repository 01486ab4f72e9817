# PrimeIntellect-ai/prime-rl#996: the number of tokens of each expert is read on the host.
import torch


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 4)

    def forward(self, x, counts):
        first = counts.max().item()  # here: item
        return self.up(x) * first


model = torch.compile(Experts(), backend="eager")
for _ in range(3):
    model(torch.randn(8, 4), torch.tensor([3, 5]))
