"""Stands for a package of somebody else's, which breaks a graph and is allowed to."""

from __future__ import annotations

import torch


def normalised(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor with a mean of zero; breaks the graph."""
    x = x - x.mean()
    torch._dynamo.graph_break()
    return x + 0
