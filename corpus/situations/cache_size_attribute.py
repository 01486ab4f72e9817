# meta-pytorch/torchtune#1663: a cache counts its filled places in an attribute that forward reads.
import torch


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 4))
        self.filled = 4

    def forward(self, key):
        self.keys[self.filled] = key  # here: filled
        self.filled += 1
        return self.keys.sum(0)


cache = torch.compile(Cache(), backend="eager")
with torch.no_grad():
    for _ in range(4):
        cache(torch.randn(4))
