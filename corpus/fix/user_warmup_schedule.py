# gone: graph-break argument-float
import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TrainState:
    step: int = 0
    base_lr: float = 0.1
    warmup: int = 3
    total: int = 12

    def lr(self):
        if self.step < self.warmup:
            return self.base_lr * (self.step + 1) / self.warmup
        progress = (self.step - self.warmup) / (self.total - self.warmup)
        return self.base_lr * 0.5 * (1 + math.cos(math.pi * progress))


model = nn.Linear(5, 1)


def train_step(x, y, lr):
    loss = (model(x) - y).pow(2).mean()
    grads = torch.autograd.grad(loss, list(model.parameters()))
    with torch.no_grad():
        for p, g in zip(model.parameters(), grads):
            p.sub_(g * lr)
    return loss.detach()


def make():
    def run(x, y):
        return (model(x) - y).pow(2).mean()

    return run


def inputs(generator):
    return torch.randn(6, 5, generator=generator), torch.randn(6, 1, generator=generator)


def main():
    torch.manual_seed(0)
    state = TrainState()
    step_fn = torch.compile(train_step, backend="eager")
    g = torch.Generator().manual_seed(2)
    while state.step < state.total:
        x, y = inputs(g)
        loss = step_fn(x, y, state.lr())
        state.step += 1
    print(f"final loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
