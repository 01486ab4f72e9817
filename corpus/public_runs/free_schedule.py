"""facebookresearch/schedule_free: an optimizer without a schedule, whose step is compiled with the model's."""

import torch
from schedulefree import AdamWScheduleFree
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = AdamWScheduleFree(model.parameters(), lr=0.01, warmup_steps=3)


@torch.compile(backend="eager")
def step(x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


optimizer.train()
for _ in range(6):
    step(torch.randn(4, 8), torch.randint(0, 2, (4,)))
optimizer.eval()
