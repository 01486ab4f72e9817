# gone: graph-break
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        return self.fc(x)


model = Net()


def mixup_loss(x, y, alpha=0.4):
    lam = np.random.beta(alpha, alpha)
    perm = torch.randperm(x.size(0))
    mixed = lam * x + (1 - lam) * x[perm]
    logits = model(mixed)
    return lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[perm])


def make():
    return mixup_loss


def inputs(generator):
    return torch.randn(8, 12, generator=generator), torch.randint(0, 5, (8,), generator=generator)


if __name__ == "__main__":
    torch.manual_seed(0)
    np.random.seed(0)
    loss_fn = torch.compile(mixup_loss, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    g = torch.Generator().manual_seed(0)
    for epoch in range(10):
        optimizer.zero_grad()
        loss = loss_fn(*inputs(g))
        loss.backward()
        optimizer.step()
    print("ok", loss.item() > 0)
