"""Describe a tensor in one line."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.torch.adapters.functorch_levels import bare


@dataclass(frozen=True, slots=True)
class Statistics:
    """A tensor in numbers.

    `minimum`, `maximum` and `mean` cover its finite elements, and are None without any; `nans` and `infinities` count
    the others.
    """

    dtype: str
    shape: tuple[int, ...]
    minimum: float | None
    maximum: float | None
    mean: float | None
    nans: int
    infinities: int

    def __str__(self) -> str:
        parts = [f"{self.dtype} {list(self.shape)}"]
        if self.mean is not None:
            parts.append(f"min {self.minimum:.6g}, max {self.maximum:.6g}, mean {self.mean:.6g}")
        parts += [f"{count} {what}" for count, what in ((self.nans, "nan"), (self.infinities, "inf")) if count]
        return "; ".join(parts)


def statistics(tensor: Tensor) -> Statistics:
    """Return the statistics of a tensor; a complex tensor counts as its real and imaginary parts."""
    dtype, shape = str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)
    values = tensor.detach()
    values = torch.view_as_real(values.resolve_conj()) if values.is_complex() else values
    values = values.double()
    finite = values[torch.isfinite(values)]
    low, high, mean = (
        (float(finite.min()), float(finite.max()), float(finite.mean())) if finite.numel() else (None, None, None)
    )
    nans = int(torch.isnan(values).sum())
    return Statistics(dtype, shape, low, high, mean, nans, values.numel() - finite.numel() - nans)


NAN, INFINITE = "nan", "inf"


def strange(value: object) -> frozenset[str]:
    """Return which of NAN and INFINITE occur in the tensors in `value`."""
    kinds = set()
    for tensor in tensors(value):
        if tensor.is_floating_point() or tensor.is_complex():
            # torch has no `isinf` for its dtypes of eight bits; float32 has all their values.
            values = tensor.float() if tensor.is_floating_point() and tensor.element_size() == 1 else tensor
            if bool(torch.isnan(values).any()):
                kinds.add(NAN)
            if bool(torch.isinf(values).any()):
                kinds.add(INFINITE)
    return frozenset(kinds)


def tensors(value: object) -> Iterator[Tensor]:
    """Yield the plain tensors in a nested value; other tensors cannot be examined element by element."""
    for leaf in map(_bare, _pytree.tree_leaves(value)):
        if isinstance(leaf, Tensor) and leaf.layout is torch.strided and not leaf.is_meta and not leaf.is_quantized:
            yield leaf


def _bare(leaf: object) -> object:
    return bare(leaf) if isinstance(leaf, Tensor) else leaf
