# gone: counter break-data-dependent-branch
import torch
from torch import nn


class RunningNorm(nn.Module):
    """Normalise observations by their running mean and variance."""

    def __init__(self, dim, clip=5.0):
        super().__init__()
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("var", torch.ones(dim))
        self.count = 0
        self.clip = clip

    def forward(self, x):
        if self.training:
            self.count += x.shape[0]
            rate = x.shape[0] / self.count
            self.mean.lerp_(x.mean(0), rate)
            self.var.lerp_(x.var(0), rate)
        return ((x - self.mean) / (self.var + 1e-5).sqrt()).clamp(-self.clip, self.clip)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RunningNorm(4)
        self.value = nn.Linear(4, 1)

    def forward(self, obs):
        value = self.value(self.norm(obs))
        if torch.isnan(value).any():
            print("nan in the critic")
        return value


def make():
    return Critic()


def inputs(generator):
    return (torch.randn(8, 4, generator=generator),)


if __name__ == "__main__":
    torch.manual_seed(0)
    critic = torch.compile(Critic(), backend="eager")
    g = torch.Generator().manual_seed(5)
    for _ in range(10):
        v = critic(*inputs(g))
    print(v.shape)
