# huggingface/pytorch-image-models: a ViT with mixup and stochastic depth; validation's last batch is smaller.
import torch
import torch.nn.functional as F
from torch import nn


class DropPath(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if not self.training or self.rate == 0.0:
            return x
        kept = x.new_empty(x.shape[0], 1, 1).bernoulli_(1 - self.rate)
        return x * kept / (1 - self.rate)


class Block(nn.Module):
    def __init__(self, width, heads, rate):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width))
        self.drop = DropPath(rate)

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.drop(self.attention(h, h, h, need_weights=False)[0])
        return x + self.drop(self.mlp(self.norm2(x)))


class ViT(nn.Module):
    def __init__(self, width=16, depth=3, classes=4):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, 2, rate) for rate in torch.linspace(0, 0.2, depth).tolist()))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


torch.manual_seed(0)
model = torch.compile(ViT(), backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=6)
train, labels = torch.randn(24, 3, 16, 16), torch.randint(0, 4, (24,))
val, val_labels = torch.randn(20, 3, 16, 16), torch.randint(0, 4, (20,))
mix = torch.distributions.Beta(0.8, 0.8)
for epoch in range(2):
    model.train()
    for x, y in zip(train.split(8), labels.split(8)):
        lam, order = mix.sample(), torch.randperm(len(x))
        logits = model(lam * x + (1 - lam) * x[order])
        loss = lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[order])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    right = torch.zeros(())
    with torch.no_grad():
        for x, y in zip(val.split(8), val_labels.split(8)):
            right += (model(x).argmax(1) == y).sum()
