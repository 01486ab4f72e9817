"""A training step that looks at its loss: the value is needed on the way, so the graph breaks there.

    python examples/tutorial/clipped_step.py
"""

import torch
from measuring import measure


def before(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    loss = (torch.tanh(x @ w) @ v).square().mean()
    if loss > 10:
        loss = loss / loss.detach() * 10
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        v -= 0.01 * v.grad
        w.grad = v.grad = None
    return loss.detach()


def after(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    loss = (torch.tanh(x @ w) @ v).square().mean()
    loss = torch.where(loss > 10, loss / loss.detach() * 10, loss)
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        v -= 0.01 * v.grad
        w.grad = v.grad = None
    return loss.detach()


if __name__ == "__main__":
    x = torch.ones(16, 8)
    for name, step in (("before", before), ("after", after)):
        w, v = torch.ones(8, 8, requires_grad=True), torch.ones(8, requires_grad=True)
        measure(name, torch.compile(step, backend="aot_eager"), [(x, w, v)])
