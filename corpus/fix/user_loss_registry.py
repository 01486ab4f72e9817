# gone: all
# A loop makes lambdas for the terms of a loss and hands them to the compiled step.
import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.body(x))).squeeze(-1)


def train_step(model, x, y, penalty, clip):
    pred = model(x)
    loss = F.smooth_l1_loss(pred, y) + penalty(model.out.weight)
    if loss > clip:
        loss = clip * (1 + torch.log(loss / clip))
    return loss


def make():
    model = Model()
    return lambda x, y, clip: train_step(model, x, y, lambda w: 1e-3 * w.abs().sum(), clip)


def inputs(generator):
    return torch.randn(6, 5, generator=generator), torch.randn(6, generator=generator), 0.5


def main():
    torch.manual_seed(0)
    model = Model()
    step = torch.compile(train_step, backend="aot_eager")
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-2)
    g = torch.Generator().manual_seed(0)
    for _ in range(10):
        x, y, clip = inputs(g)
        penalty = lambda w: 1e-3 * w.abs().sum()
        loss = step(model, x, y, penalty, clip)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("final loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
