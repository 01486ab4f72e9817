# gone: break-data-dependent-branch break-print
import torch
from torch import nn


def check_finite(name, tensor):
    if not torch.isfinite(tensor).all():
        raise ValueError(f"{name} has values that are not finite")
    return tensor


class Autoencoder(nn.Module):
    def __init__(self, d=10, h=3, debug=True):
        super().__init__()
        self.enc = nn.Linear(d, h)
        self.dec = nn.Linear(h, d)
        self.debug = debug

    def forward(self, x):
        z = torch.tanh(self.enc(x))
        if self.debug:
            z = check_finite("code", z)
            print(f"code: mean {z.mean().item():.2f}")
        return self.dec(z)


def make():
    return Autoencoder()


def inputs(generator):
    return (torch.randn(4, 10, generator=generator),)


def main():
    torch.manual_seed(0)
    model = torch.compile(Autoencoder(), backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(4):
        y = model(*inputs(g))
    print(y.shape)


if __name__ == "__main__":
    main()
