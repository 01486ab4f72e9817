# gone: break-data-dependent-branch graph-break
# left: number-in-condition
import torch
import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self, z=4, d=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z, 16), nn.ReLU(), nn.Linear(16, d))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


gen, disc = Generator(), Discriminator()


def losses(real, z, step, n_critic=3):
    fake = gen(z)
    d_loss = F.softplus(disc(fake.detach())).mean() + F.softplus(-disc(real)).mean()
    if step % n_critic == 0:
        g_loss = F.softplus(-disc(fake)).mean()
    else:
        g_loss = torch.zeros(())
    if d_loss.item() < 1e-3:
        print("the discriminator won at step", step)
    return d_loss, g_loss


def make():
    return lambda real, z: losses(real, z, 0)


def inputs(generator):
    return torch.randn(6, 8, generator=generator), torch.randn(6, 4, generator=generator)


def main():
    torch.manual_seed(0)
    compiled = torch.compile(losses, backend="eager")
    opt = torch.optim.Adam([*gen.parameters(), *disc.parameters()], lr=1e-3)
    g = torch.Generator().manual_seed(0)
    for step in range(12):
        d_loss, g_loss = compiled(*inputs(g), step)
        opt.zero_grad()
        (d_loss + g_loss).backward()
        opt.step()
    print(f"{d_loss.item():.4f}")


if __name__ == "__main__":
    main()
