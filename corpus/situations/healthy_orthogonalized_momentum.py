# KellerJordan/modded-nanogpt: Newton-Schulz steps are compiled, and the matrices have four shapes.
import torch
from torch import nn


@torch.compile(backend="eager", dynamic=False)
def orthogonalized(gradient: torch.Tensor, steps: int = 3) -> torch.Tensor:
    a, b, c = 3.4445, -4.7750, 2.0315
    x = gradient / (gradient.norm() + 1e-7)
    if gradient.size(0) > gradient.size(1):
        x = x.T
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if gradient.size(0) > gradient.size(1) else x


class Muon(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.02, momentum=0.95):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                if "buffer" not in state:
                    state["buffer"] = torch.zeros_like(parameter)
                state["buffer"].lerp_(parameter.grad, 1 - group["momentum"])
                parameter.add_(orthogonalized(state["buffer"]), alpha=-group["lr"])


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.ReLU(), nn.Linear(8, 8, bias=False))
optimizer = Muon(model.parameters())
for _ in range(4):
    optimizer.zero_grad()
    model(torch.randn(6, 8)).square().mean().backward()
    optimizer.step()
