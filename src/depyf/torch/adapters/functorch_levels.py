"""Tensors inside `vmap` and other transforms of `torch.func`, which wrap them and hide their values."""

from __future__ import annotations

import torch
from torch import Tensor

_DEEPEST_LEVEL = 20


def bare(tensor: Tensor) -> Tensor:
    """Return the tensor inside all wrappers of the levels of `torch.func`."""
    functorch = getattr(torch._C, "_functorch", None)
    is_wrapped = getattr(functorch, "is_functorch_wrapped_tensor", None)
    for _ in range(_DEEPEST_LEVEL):
        if is_wrapped is None or functorch is None or not is_wrapped(tensor):
            break
        tensor = functorch.get_unwrapped(tensor)
    return tensor
