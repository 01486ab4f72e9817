"""A compiled function with a graph break, which most of these programs call."""

import torch


@torch.compile(backend="eager")
def broken(x):
    y = x + 1
    if y.sum() > 0:
        return y * 2
    return y - 1


def some(size: int = 3) -> torch.Tensor:
    """Return numbers that are the same in every run."""
    return torch.arange(size, dtype=torch.float32)
