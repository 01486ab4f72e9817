"""rtqichen/torchdiffeq: an adaptive solver calls a compiled vector field, and a whole solve is compiled."""

import torch
from torch import nn
from torchdiffeq import odeint


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.evaluations = 0

    def forward(self, t, y):
        self.evaluations += 1
        return self.net(y**3)


torch.manual_seed(0)
field = Field()
compiled = torch.compile(field, backend="eager")
optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
start = torch.tensor([[2.0, 0.0]])
for _ in range(2):
    times = torch.linspace(0.0, 1.0, 4)
    loss = odeint(compiled, start, times, method="rk4").abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
