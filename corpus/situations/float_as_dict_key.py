# pytorch/pytorch#171593: each instance of a module looks up its own key, and ten instances are compiled.
import torch

tables = {}


class Lookup(torch.nn.Module):
    def __init__(self, key):
        super().__init__()
        self.key = key
        tables[key] = torch.randn(8)

    def forward(self, x):
        return x + tables[self.key]  # here: key


for number in range(10):
    torch.compile(Lookup(number + 0.5), backend="eager")(torch.randn(8))
