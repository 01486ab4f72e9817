# Lightning-AI/pytorch-lightning#20345: each epoch passes a new functools.partial of a loss to the compiled step.
from functools import partial

import torch
import torch.nn.functional as F

model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.GELU(), torch.nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(backend="aot_eager")
def objective(x, y, criterion):
    return criterion(model(x), y)  # here: use


for epoch in range(5):
    reduction = "sum" if epoch == 3 else "mean"
    criterion = partial(F.cross_entropy, reduction=reduction)
    for _ in range(2):
        loss = objective(torch.randn(8, 6), torch.randint(3, (8,)), criterion)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
