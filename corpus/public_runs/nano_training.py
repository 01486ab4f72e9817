"""karpathy/nanoGPT (train.py): cosine learning rate, accumulation, evaluation with no_grad, sampling at the end."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.dropout = 0.1

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Model(nn.Module):
    def __init__(self, vocabulary=64, block=32, width=32):
        super().__init__()
        self.block = block
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(block, width)
        self.layers = nn.ModuleList(Attention(width, 2) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, targets=None):
        t = tokens.shape[1]
        assert t <= self.block, f"sequence of {t} is longer than {self.block}"
        x = self.tokens(tokens) + self.places(torch.arange(t))
        for layer in self.layers:
            x = x + layer(x)
        x = self.norm(x)
        if targets is None:
            return self.head(x[:, [-1], :]), None
        logits = self.head(x)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, tokens, count):
        for _ in range(count):
            logits, _ = self(tokens[:, -self.block :])
            chosen = torch.multinomial(logits[:, -1].softmax(-1), 1)
            tokens = torch.cat((tokens, chosen), dim=1)
        return tokens


torch.manual_seed(0)
raw = Model()
model = torch.compile(raw, backend="eager")
optimizer = torch.optim.AdamW(raw.parameters(), lr=1e-3)


def batch():
    data = torch.randint(0, 64, (4, 17))
    return data[:, :-1], data[:, 1:]


@torch.no_grad()
def evaluate():
    model.eval()
    losses = torch.stack([model(*batch())[1] for _ in range(2)])
    model.train()
    return losses.mean()


for step in range(4):
    for group in optimizer.param_groups:
        group["lr"] = 1e-3 * 0.5 * (1 + math.cos(math.pi * step / 4))
    if step % 2 == 0:
        evaluate()
    for _ in range(2):
        _, loss = model(*batch())
        (loss / 2).backward()
    torch.nn.utils.clip_grad_norm_(raw.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
model.eval()
model.generate(torch.zeros(1, 1, dtype=torch.long), 5)
