# gone: all
# A Gaussian process tries a Cholesky factorization, and warns and adds jitter if it fails.
import warnings

import torch
from torch import nn


class GP(nn.Module):
    def __init__(self, lengthscale=1.0):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(lengthscale).log())
        self.noise = nn.Parameter(torch.tensor(0.1))

    def kernel(self, a, b):
        return torch.exp(-0.5 * (torch.cdist(a, b) / self.log_scale.exp()) ** 2)

    def forward(self, x, y):
        k = self.kernel(x, x) + self.noise.square() * torch.eye(x.shape[0])
        L, info = torch.linalg.cholesky_ex(k)
        if info.any():
            warnings.warn("adding jitter")
            L = torch.linalg.cholesky_ex(k + 1e-3 * torch.eye(x.shape[0]))[0]
        alpha = torch.cholesky_solve(y[:, None], L).squeeze(-1)
        nll = 0.5 * y @ alpha + L.diagonal().log().sum()
        if not torch.isfinite(nll):
            warnings.warn(f"nll is {nll.item()}")
        return nll


def make():
    return GP()


def inputs(generator):
    return torch.randn(6, 2, generator=generator), torch.randn(6, generator=generator)


def main():
    torch.manual_seed(0)
    gp = GP()
    nll = torch.compile(gp, backend="aot_eager")
    opt = torch.optim.Adam(gp.parameters(), lr=0.01)
    g = torch.Generator().manual_seed(0)
    x, y = inputs(g)
    for i in range(8):
        opt.zero_grad()
        loss = nll(x, y)
        loss.backward()
        opt.step()
    print(f"nll {loss.item():.4f}")


if __name__ == "__main__":
    main()
