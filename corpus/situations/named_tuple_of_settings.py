# pytorch/pytorch#158772, #138226: settings are in a named tuple, and one of its fields changes.
from typing import NamedTuple

import torch


class Settings(NamedTuple):
    scale: float
    mode: str


@torch.compile(backend="eager")
def step(x, settings):
    y = x * settings.scale
    return y.relu() if settings.mode == "exact" else y + len(settings.mode)


for mode in ("fast", "exact", "draft"):
    step(torch.ones(4), Settings(0.5, mode))
