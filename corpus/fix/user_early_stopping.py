# gone: break-print break-data-dependent-branch
import torch
import torch.nn.functional as F
from torch import nn


class EarlyStopping:
    def __init__(self, patience=3, min_delta=1e-4):
        self.patience = patience
        self.min_delta = min_delta
        self.best = float("inf")
        self.bad_epochs = 0

    def step(self, value):
        if value < self.best - self.min_delta:
            self.best = value
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience


class Regressor(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x, y):
        pred = self.net(x)
        loss = F.mse_loss(pred, y)
        if loss > 10.0:
            loss = 10.0 + 0.1 * (loss - 10.0)
        print("loss in forward", loss.item())
        return loss


def make():
    return Regressor()


def inputs(generator):
    return torch.randn(8, 4, generator=generator), torch.randn(8, 1, generator=generator) * 4


def train():
    torch.manual_seed(0)
    model = Regressor()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    stopper = EarlyStopping()
    g = torch.Generator().manual_seed(0)
    batches = [inputs(g) for _ in range(3)]
    for epoch in range(4):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = compiled(x, y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if stopper.step(total / len(batches)):
            break
    print("done after", epoch + 1)


if __name__ == "__main__":
    train()
