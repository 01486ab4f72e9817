# sgl-project/sglang#27569: a shortcut for zero scales asks the values, and a cache of frequencies takes a tuple.
import functools

import torch


@functools.lru_cache(maxsize=8)
def frequencies(positions):
    return torch.tensor(positions).cos()


@torch.compile(backend="eager")
def modulate(x, scale, shift, positions):
    if not scale.any() and not shift.any():  # here: branch
        return x
    return x * (1 + scale) + shift + frequencies(tuple(positions.tolist()))  # here: tuple


for number in range(4):
    modulate(torch.randn(2, 3), torch.rand(3), torch.rand(3), torch.arange(3.0) + number)
