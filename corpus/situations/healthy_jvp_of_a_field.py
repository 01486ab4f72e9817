# torch.func.jvp in a compiled function: a flow is trained with the derivative along a time direction.
import copy

import torch
from torch import nn
from torch.func import functional_call, jvp

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2))


def velocity(parameters, x, t):
    return functional_call(net, parameters, (torch.cat([x, t[:, None]], 1),))


@torch.compile(backend="aot_eager")
def loss_of(parameters, x, noise, t):
    point, target = (1 - t[:, None]) * x + t[:, None] * noise, noise - x
    value, change = jvp(lambda z, s: velocity(parameters, z, s), (point, t), (target, torch.ones_like(t)))
    return (value - target + t[:, None] * change.detach()).square().mean()


parameters = dict(net.named_parameters())
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
kept = copy.deepcopy(net.state_dict())
for _ in range(5):
    optimizer.zero_grad()
    loss_of(parameters, torch.randn(8, 2), torch.randn(8, 2), torch.rand(8)).backward()
    optimizer.step()
net.load_state_dict(kept)
