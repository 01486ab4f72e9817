# gone: all
# The decay of the moving average is a float of Python's that depends on the step.
import copy

import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.999, warmup=True):
        self.shadow = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay
        self.warmup = warmup

    def get_decay(self, step):
        return min(self.decay, (1 + step) / (10 + step)) if self.warmup else self.decay


@torch.no_grad()
def ema_update(targets, sources, decay):
    for target, source in zip(targets, sources):
        target.lerp_(source, 1.0 - decay)


def make():
    return ema_update


def inputs(generator):
    sizes = ((3, 4), (4,), (2, 4))
    targets = [torch.randn(size, generator=generator) for size in sizes]
    sources = [torch.randn(size, generator=generator) for size in sizes]
    return targets, sources, float(torch.rand((), generator=generator))


def train(steps=12):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    ema = EMA(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    update = torch.compile(ema_update, backend="eager")
    for step in range(steps):
        x = torch.randn(16, 4)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        decay = ema.get_decay(step)
        update(list(ema.shadow.parameters()), list(model.parameters()), decay)
    with torch.no_grad():
        print(f"ema loss {(ema.shadow(x) - x.sum(1, keepdim=True)).pow(2).mean():.4f}")


if __name__ == "__main__":
    train()
