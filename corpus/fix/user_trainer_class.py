# gone: break-print break-item
# left: number-in-condition
import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.lr = lr
        self.losses = []
        self.global_step = 0

    def training_step(self, x, y):
        self.global_step += 1
        loss = (self.model(x) - y).pow(2).mean()
        if self.global_step % 4 == 0:
            print("step", self.global_step, "loss", round(loss.item(), 3))
        return loss


def make():
    trainer = Trainer(nn.Linear(4, 1))
    return trainer.training_step


def inputs(generator):
    return torch.randn(8, 4, generator=generator), torch.randn(8, 1, generator=generator)


if __name__ == "__main__":
    torch.manual_seed(0)
    trainer = Trainer(nn.Linear(4, 1))
    step = torch.compile(trainer.training_step, backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(12):
        loss = step(*inputs(g))
        loss.backward()
    print("end", loss.shape)
