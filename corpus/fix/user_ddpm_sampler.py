# gone: argument-float
import math

import torch
from torch import nn


class UNetish(nn.Module):
    def __init__(self, channels=4, dim=8):
        super().__init__()
        self.dim = dim
        self.inp = nn.Conv2d(channels, dim, 3, padding=1)
        self.time = nn.Linear(dim, dim)
        self.out = nn.Conv2d(dim, channels, 3, padding=1)

    def embed(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half) / half)
        args = t * freqs
        return torch.cat([args.cos(), args.sin()])

    def forward(self, x, t):
        h = self.inp(x) + self.time(self.embed(t))[None, :, None, None]
        return self.out(torch.nn.functional.silu(h))


class Sampler:
    def __init__(self, model, steps=10):
        self.model = torch.compile(model, backend="eager")
        self.betas = torch.linspace(1e-4, 0.02, steps)
        self.alphas = 1 - self.betas
        self.bars = self.alphas.cumprod(0)
        self.steps = steps

    @torch.no_grad()
    def sample(self, shape):
        x = torch.randn(shape)
        for t in reversed(range(self.steps)):
            eps = self.model(x, float(t))
            mean = (x - self.betas[t] / (1 - self.bars[t]).sqrt() * eps) / self.alphas[t].sqrt()
            x = mean + (self.betas[t].sqrt() * torch.randn_like(x) if t > 0 else 0)
        return x


def make():
    return UNetish()


def inputs(generator):
    t = float(torch.randint(0, 10, (), generator=generator))
    return torch.randn(1, 4, 8, 8, generator=generator), t


def main():
    torch.manual_seed(0)
    sampler = Sampler(UNetish())
    images = sampler.sample((1, 4, 8, 8))
    print(tuple(images.shape), bool(images.isfinite().all()))


if __name__ == "__main__":
    main()
