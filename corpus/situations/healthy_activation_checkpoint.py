# Activation checkpoints in a compiled model. pytorch/pytorch#97436.
import torch
from torch.utils.checkpoint import checkpoint


class Deep(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False).relu()
        return x


model = Deep()
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    forward(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
