# pytorch/torchtitan: a mixture of experts with a dense dispatch, a balance loss, and evaluation.
import torch
import torch.nn.functional as F
from torch import nn


class Experts(nn.Module):
    def __init__(self, width=8, experts=4, chosen=2):
        super().__init__()
        self.chosen = chosen
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, width, 2 * width) * 0.1)
        self.down = nn.Parameter(torch.randn(experts, 2 * width, width) * 0.1)
        self.register_buffer("load", torch.zeros(experts))

    def forward(self, x):
        scores = self.router(x).softmax(-1)
        weights, index = scores.topk(self.chosen, -1)
        gate = torch.zeros_like(scores).scatter(-1, index, weights / weights.sum(-1, keepdim=True))
        if self.training:
            self.load.lerp_((gate.detach() > 0).float().mean((0, 1)), 0.1)
        hidden = F.silu(torch.einsum("btd,edh->bteh", x, self.up))
        y = torch.einsum("bteh,ehd,bte->btd", hidden, self.down, gate)
        balance = (scores.mean((0, 1)) * (gate > 0).float().mean((0, 1))).sum()
        return x + y, balance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(24, 8), nn.Linear(8, 24)
        self.layers = nn.ModuleList(Experts() for _ in range(2))

    def forward(self, tokens):
        x, total = self.embed(tokens), 0.0
        for layer in self.layers:
            x, balance = layer(x)
            total = total + balance
        return self.head(x), total


torch.manual_seed(0)
model = Model()
net = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=False)
for epoch in range(2):
    net.train()
    for _ in range(3):
        tokens = torch.randint(0, 24, (4, 7))
        logits, balance = net(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()) + 0.01 * balance
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.inference_mode():
        net(torch.randint(0, 24, (4, 6)))
