# gone: counter-in-condition
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / 10000 ** (torch.arange(0, dim, 2).float() / dim))
        self.cached_len = 0
        self.cos = None
        self.sin = None

    def forward(self, x):
        n = x.shape[1]
        if n > self.cached_len:
            angles = torch.outer(torch.arange(n).float(), self.inv_freq)
            self.cos = torch.cat([angles, angles], -1).cos()
            self.sin = torch.cat([angles, angles], -1).sin()
            self.cached_len = n
        half = x.shape[-1] // 2
        rotated = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * self.cos[:n] + rotated * self.sin[:n]


def make():
    return Rotary()


def inputs(generator):
    n = int(torch.randint(2, 9, (), generator=generator))
    return (torch.randn(2, n, 8, generator=generator),)


if __name__ == "__main__":
    rotary = torch.compile(Rotary(), backend="eager")
    g = torch.Generator().manual_seed(0)
    for n in (4, 5, 6, 7, 8, 6, 5):
        y = rotary(torch.randn(2, n, 8, generator=g))
    print(y.shape)
