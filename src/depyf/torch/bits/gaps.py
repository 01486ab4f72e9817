"""Compare two tensors bit by bit."""

from __future__ import annotations

from dataclasses import field

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.model.counts import counted

_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_STEPS = (1, 2, 4, 16, 256, 65536)
"""The upper ends of the classes of the histogram, in units in the last place."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How two tensors differ: `count` of `total` values, by at most `ulps` units in the last place.

    ulps: None if the values are no floating-point numbers, or if only one of them is NaN.
    histogram: the number of values that differ by at most so many units; the last class, 0, has all others.
    at: the index of the first value that differs.
    """

    count: int
    total: int
    ulps: int | None
    at: tuple[int, ...] = ()
    histogram: dict[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        distance = "" if self.ulps is None else f", {'at most ' if self.count > 1 else ''}{self.ulps} ulp"
        return f"{self.count} of {counted(self.total, 'value')}{distance}"


def gap(actual: Tensor, expected: Tensor) -> Gap | None:
    """Return how the bits of two tensors of one shape and dtype differ, or None. All NaN count as one value."""
    ours, theirs = _flat(actual), _flat(expected)
    differ = _bits(ours) != _bits(theirs)
    is_real = ours.is_floating_point()
    if is_real:
        differ &= ~(ours.isnan() & theirs.isnan())
    count = int(differ.sum())
    if not count:
        return None
    place = int(differ.to(torch.uint8).argmax())
    size = ours.numel() // max(actual.numel(), 1)
    at = tuple(int(index) for index in torch.unravel_index(torch.tensor(place // max(size, 1)), actual.shape))
    if not is_real or bool((ours.isnan() != theirs.isnan()).any()):
        return Gap(count, ours.numel(), None, at)
    distances = _distance(ours[differ], theirs[differ])
    return Gap(count, ours.numel(), int(distances.max()), at, _histogram(distances))


def _flat(tensor: Tensor) -> Tensor:
    values = tensor.detach().cpu()
    values = torch.view_as_real(values.resolve_conj()) if values.is_complex() else values
    return values.resolve_neg().contiguous().flatten()


def _bits(values: Tensor) -> Tensor:
    return values if values.dtype == torch.bool else values.view(_INTEGERS[values.element_size()])


def _distance(ours: Tensor, theirs: Tensor) -> Tensor:
    """Return the number of floating-point numbers between two, as float64: the distance in float64 may not fit."""
    return (_ordinal(ours).double() - _ordinal(theirs).double()).abs()


def _ordinal(values: Tensor) -> Tensor:
    """Return integers in the order of the floating-point numbers."""
    bits = _bits(values).to(torch.int64)
    least = -(1 << (8 * values.element_size() - 1))
    return torch.where(bits < 0, least - bits, bits)


def _histogram(distances: Tensor) -> dict[int, int]:
    histogram, below = {}, 0.0
    for step in _STEPS:
        histogram[step] = int(((distances > below) & (distances <= step)).sum())
        below = float(step)
    histogram[0] = int((distances > below).sum())
    return {step: number for step, number in histogram.items() if number}
