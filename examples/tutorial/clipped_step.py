"""A training step whose loss is looked at: the value is needed on the way, so the graph breaks there.

    python examples/tutorial/clipped_step.py
"""

from collections.abc import Callable

import torch
from measuring import compare


def before(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    loss = (torch.tanh(x @ w) @ v).square().mean()
    if loss > 10:
        loss = loss / loss.detach() * 10
    return loss.log1p()


def after(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    loss = (torch.tanh(x @ w) @ v).square().mean()
    loss = torch.where(loss > 10, loss / loss.detach() * 10, loss)
    return loss.log1p()


def step_of(loss_of: Callable[..., torch.Tensor]) -> Callable[..., object]:
    compiled = torch.compile(loss_of, backend="aot_eager")
    return lambda *arguments: compiled(*arguments).backward()


if __name__ == "__main__":
    x = torch.ones(16, 8)
    w, v = torch.ones(8, 8, requires_grad=True), torch.ones(8, requires_grad=True)
    compare({step.__name__: step_of(step) for step in (before, after)}, [(x, w, v)])
