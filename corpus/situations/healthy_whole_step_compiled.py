# pytorch/torchtune: forward and loss are one compiled function; gradients, schedule and checkpoint stay outside.
import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class State:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    step: int = 0
    best: float = float("inf")


class Mixer(nn.Module):
    def __init__(self, tokens=6, width=8):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(tokens, 12), nn.GELU(), nn.Linear(12, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).mT).mT
        return x + self.channels(self.norm2(x))


def compute_loss(model, x, y):
    return F.mse_loss(model(x).mean(1), y)


torch.manual_seed(0)
model = nn.Sequential(Mixer(), Mixer(), nn.Linear(8, 2))
state = State(model, torch.optim.RAdam(model.parameters(), lr=1e-3))
loss_fn = torch.compile(compute_loss, backend="aot_eager")
data, wanted = torch.randn(26, 6, 8), torch.randn(26, 2)
for epoch in range(2):
    state.model.train()
    for x, y in zip(data.split(8), wanted.split(8)):
        loss = loss_fn(state.model, x, y)
        loss.backward()
        state.optimizer.step()
        state.optimizer.zero_grad()
        state.step += 1
    state.model.eval()
    with torch.no_grad():
        value = loss_fn(state.model, data, wanted).item()
    if value < state.best:
        state.best = value
        kept = copy.deepcopy(state.model.state_dict()), copy.deepcopy(state.optimizer.state_dict())
state.model.load_state_dict(kept[0])
state.optimizer.load_state_dict(kept[1])
