# huggingface/peft: a frozen model with low-rank adapters is trained, evaluated, merged and served.
import math

import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.dropout = nn.Dropout(0.05)
        self.scaling = alpha / rank
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + self.dropout(x) @ self.down.T @ self.up.T * self.scaling


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(30, 8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8), nn.Linear(8, 30))
model.requires_grad_(False)
for place in (1, 3):
    model[place] = LoraLinear(model[place])
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 3))
for epoch in range(2):
    compiled.train()
    for _ in range(4):
        tokens = torch.randint(0, 30, (4, 9))
        loss = nn.functional.cross_entropy(compiled(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    compiled.eval()
    with torch.no_grad():
        compiled(torch.randint(0, 30, (4, 8)))
with torch.no_grad():
    for place in (1, 3):
        layer = model[place]
        layer.base.weight += layer.scaling * layer.up @ layer.down
        model[place] = layer.base
served = torch.compile(model, backend="aot_eager")
with torch.inference_mode():
    for _ in range(3):
        served(torch.randint(0, 30, (1, 12)))
