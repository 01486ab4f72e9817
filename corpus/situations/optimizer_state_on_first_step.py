# Koratahiu/Advanced_Optimizers#15: an optimizer of one's own makes its state in its first compiled step.
import torch


@torch.compile(backend="eager")
def step(weight, grad, state):
    if "momentum" not in state:  # here: state
        state["momentum"] = torch.zeros_like(weight)
    state["momentum"].mul_(0.9).add_(grad)
    weight.sub_(state["momentum"])


weight, state = torch.ones(4), {}
for _ in range(5):
    step(weight, torch.randn(4), state)
