# gone: counter
import copy

import torch
from torch import nn


class MeanTeacher(nn.Module):
    """Student with an exponential moving average of its weights."""

    def __init__(self, dim=6, decay=0.99):
        super().__init__()
        self.student = nn.Linear(dim, dim)
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.decay = decay
        self.num_updates = 0

    @torch.no_grad()
    def update(self):
        self.num_updates += 1
        decay = min(self.decay, (1 + self.num_updates) / (10 + self.num_updates))
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.mul_(decay).add_(s, alpha=1 - decay)

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x)
        loss = (self.student(x) - target).pow(2).mean()
        self.update()
        return loss


def make():
    return MeanTeacher()


def inputs(generator):
    return (torch.randn(5, 6, generator=generator),)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = MeanTeacher()
    step = torch.compile(model, backend="eager")
    g = torch.Generator().manual_seed(3)
    for i in range(12):
        loss = step(*inputs(g))
    print("final", round(loss.item(), 4))
