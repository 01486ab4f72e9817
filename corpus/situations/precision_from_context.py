# Lightning-AI/pytorch-lightning#20901, pytorch/pytorch#152098: evaluation under bfloat16 autocast, training without;
# one loss for both.
import contextlib

import torch
import torch.nn.functional as F


@contextlib.contextmanager
def precision(enabled):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
        yield


model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 3))


@torch.compile(backend="aot_eager")
def loss_of(x, y, label_smoothing):
    return F.cross_entropy(model(x).float(), y, label_smoothing=label_smoothing)  # here: smoothing


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    with precision(epoch > 0):
        for _ in range(2):
            loss_of(torch.randn(6, 4), torch.randint(3, (6,)), 0.1).backward()
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        loss_of(torch.randn(6, 4), torch.randint(3, (6,)), 0.0)
