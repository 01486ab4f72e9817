# gone: all
# The weight of the KL term is a float that changes, and the loss is asserted finite and printed.
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, d_in=12, d_z=3):
        super().__init__()
        self.enc = nn.Linear(d_in, 2 * d_z)
        self.dec = nn.Sequential(nn.Linear(d_z, 16), nn.ReLU(), nn.Linear(16, d_in))

    def forward(self, x, eps):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        z = mu + eps * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo(model, x, eps, beta):
    recon, mu, logvar = model(x, eps)
    rec = F.mse_loss(recon, x, reduction="sum") / x.size(0)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1).mean()
    loss = rec + beta * kl
    assert not torch.isnan(loss), "loss is NaN"
    print("rec=%.3f kl=%.3f" % (rec.item(), kl.item()))
    return loss


def make():
    model = VAE()
    return lambda x, eps, beta: elbo(model, x, eps, beta)


def inputs(generator):
    beta = float(torch.rand((), generator=generator))
    return torch.randn(8, 12, generator=generator), torch.randn(8, 3, generator=generator), beta


def main(epochs=6):
    torch.manual_seed(0)
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = torch.compile(elbo, backend="aot_eager")
    g = torch.Generator().manual_seed(0)
    data = torch.randn(16, 12, generator=g)
    for epoch in range(epochs):
        beta = min(1.0, epoch / 4)
        for x in data.split(8):
            opt.zero_grad()
            loss = step(model, x, torch.randn(8, 3, generator=g), beta)
            loss.backward()
            opt.step()
    print("done", round(loss.item(), 3))


if __name__ == "__main__":
    main()
