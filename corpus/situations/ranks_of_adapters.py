# Comfy-Org/ComfyUI#9289: adapters of other ranks replace the parameters of a compiled layer.
import torch


class Adapted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = torch.nn.Linear(8, 8)
        self.load(4)

    def load(self, rank):
        self.down = torch.nn.Parameter(torch.randn(rank, 8))
        self.up = torch.nn.Parameter(torch.randn(8, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


layer = Adapted()
run = torch.compile(layer, backend="eager")
with torch.no_grad():
    for rank in (4, 8, 16, 12):
        layer.load(rank)
        run(torch.ones(2, 8))
