# pytorch/pytorch#138226: a field of a frozen data class says how many times a loop runs.
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Settings:
    depth: int
    width: int = 8


@torch.compile(backend="eager")
def run(x, settings):
    for _ in range(settings.depth):  # here: loop
        x = torch.sin(x) + 1
    return x


for depth in (2, 3, 4, 5):
    run(torch.ones(4), Settings(depth))
