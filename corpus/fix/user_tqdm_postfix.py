# gone: all
# The compiled step shows its loss in a progress bar, and counts its steps on the module.
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm


class LitModel(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 12), nn.SiLU(), nn.Linear(12, dim))
        self.global_step = 0
        self.bar = None

    def training_step(self, batch):
        noise = torch.cos(batch * 3.0)
        loss = F.mse_loss(self.net(batch + noise), batch)
        self.global_step += 1
        if self.bar is not None:
            self.bar.set_postfix(loss=f"{loss.item():.3f}")
        return loss


def make():
    model = LitModel()
    return model.training_step


def inputs(generator):
    return (torch.randn(7, 6, generator=generator),)


def fit(steps=10):
    torch.manual_seed(0)
    model = LitModel()
    model.bar = tqdm(total=steps, file=sys.stderr, disable=True)
    step = torch.compile(model.training_step, backend="aot_eager")
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    g = torch.Generator().manual_seed(0)
    for _ in range(steps):
        loss = step(*inputs(g))
        opt.zero_grad()
        loss.backward()
        opt.step()
        model.bar.update(1)
    print("steps", model.global_step, "loss", round(loss.item(), 3))


if __name__ == "__main__":
    fit()
