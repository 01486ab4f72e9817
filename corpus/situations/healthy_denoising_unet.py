# lucidrains/denoising-diffusion-pytorch: a small U-Net, averaged weights, and samples from those after each epoch.
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn


def time_embedding(t, width):
    frequencies = torch.exp(-math.log(10000) * torch.arange(width // 2) / (width // 2))
    angles = t[:, None].float() * frequencies
    return torch.cat([angles.sin(), angles.cos()], -1)


class ResBlock(nn.Module):
    def __init__(self, inner, outer, time_width):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(inner, outer, 3, padding=1), nn.Conv2d(outer, outer, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(2, outer), nn.GroupNorm(2, outer)
        self.time = nn.Linear(time_width, 2 * outer)
        self.skip = nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x, t):
        scale, shift = self.time(t)[:, :, None, None].chunk(2, 1)
        h = F.silu(self.norm1(self.conv1(x)) * (scale + 1) + shift)
        return F.silu(self.norm2(self.conv2(h))) + self.skip(x)


class UNet(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.width = width
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.downs = nn.ModuleList([ResBlock(width, 2 * width, width), ResBlock(2 * width, 2 * width, width)])
        self.middle = ResBlock(2 * width, 2 * width, width)
        self.ups = nn.ModuleList([ResBlock(4 * width, 2 * width, width), ResBlock(4 * width, width, width)])
        self.last = nn.Conv2d(width, 1, 1)

    def forward(self, x, t):
        t = time_embedding(t, self.width)
        x, skips = self.first(x), []
        for block in self.downs:
            x = block(x, t)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.middle(x, t)
        for block in self.ups:
            x = F.interpolate(x, scale_factor=2, mode="nearest")
            x = block(torch.cat([x, skips.pop()], 1), t)
        return self.last(x)


torch.manual_seed(0)
model = UNet()
averaged = copy.deepcopy(model).eval().requires_grad_(False)
train_net = torch.compile(model, backend="aot_eager")
sample_net = torch.compile(averaged, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
steps = 6
alphas = torch.cumprod(1 - torch.linspace(1e-2, 0.3, steps), 0)
for epoch in range(2):
    model.train()
    for _ in range(3):
        x, noise, t = torch.randn(4, 1, 8, 8), torch.randn(4, 1, 8, 8), torch.randint(0, steps, (4,))
        a = alphas[t][:, None, None, None]
        F.mse_loss(train_net(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise).backward()
        optimizer.step()
        optimizer.zero_grad()
        for mean, now in zip(averaged.parameters(), model.parameters()):
            mean.lerp_(now.detach(), 0.05)
    with torch.inference_mode():
        x = torch.randn(2, 1, 8, 8)
        for i in reversed(range(steps)):
            noise = sample_net(x, torch.full((2,), i))
            a, before = alphas[i], alphas[i - 1] if i else torch.tensor(1.0)
            x = before.sqrt() * (x - (1 - a).sqrt() * noise) / a.sqrt() + (1 - before).sqrt() * noise
