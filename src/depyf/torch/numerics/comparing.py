"""Compare two results up to rounding: by a tolerance, and with the same graph in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.torch.numerics.report import Deviation

_DEFAULTS = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance by dtype: those of `torch.testing.assert_close`."""

_ROUNDING = 8.0
"""A compiled result may be this many times as far from the float64 result as the eager result is."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Relative and absolute tolerance. None selects the dtype's default, with a check in float64 for larger errors."""

    relative: float | None = None
    absolute: float | None = None

    @property
    def is_given(self) -> bool:
        """Whether the user gave a tolerance."""
        return self.relative is not None or self.absolute is not None

    def of(self, dtype: torch.dtype) -> tuple[float, float]:
        """Return both numbers for results of a dtype."""
        relative, absolute = _DEFAULTS.get(dtype, (0.0, 0.0))
        return (
            relative if self.relative is None else self.relative,
            absolute if self.absolute is None else self.absolute,
        )


def deviation(compiled: object, eager: object, tolerance: Tolerance, exact: object = None) -> Deviation | None:
    """Return where a compiled tensor differs from the eager one by more than rounding, or None.

    Args:
        compiled: the result of the compiled graph; anything but a tensor is not compared.
        eager: the result of the eager graph.
        tolerance: the allowed distance.
        exact: the same result in float64, if it is available.
    """
    if not isinstance(compiled, Tensor) or not isinstance(eager, Tensor):
        return None
    if compiled.shape != eager.shape or compiled.numel() == 0:
        count = 0 if compiled.shape == eager.shape else max(compiled.numel(), eager.numel())
        return Deviation(count, (), float("nan"), float("nan")) if count else None
    ours, theirs = _real(compiled), _real(eager)
    relative, absolute = tolerance.of(compiled.dtype)
    distance = torch.nan_to_num((ours - theirs).abs(), nan=0.0)
    beyond = distance > absolute + relative * torch.nan_to_num(theirs.abs())
    beyond &= ours != theirs
    beyond |= torch.isnan(ours) != torch.isnan(theirs)
    if not bool(beyond.any()):
        return None
    if not tolerance.is_given and isinstance(exact, Tensor) and _is_rounding(ours, theirs, _real(exact), absolute):
        return None
    worst = int(torch.where(beyond, torch.nan_to_num(distance, posinf=torch.finfo().max), -1.0).argmax())
    at = tuple(int(index) for index in torch.unravel_index(torch.tensor(worst), ours.shape))
    return Deviation(int(beyond.sum()), at, float(ours.flatten()[worst]), float(theirs.flatten()[worst]))


def _is_rounding(ours: Tensor, theirs: Tensor, exact: Tensor, absolute: float) -> bool:
    if exact.shape != ours.shape or not all(bool(torch.isfinite(our).all()) for our in (ours, theirs, exact)):
        return False
    return float((ours - exact).abs().max()) <= _ROUNDING * float((theirs - exact).abs().max()) + absolute


def _real(tensor: Tensor) -> Tensor:
    values = tensor.detach()
    return (torch.view_as_real(values.resolve_conj()) if values.is_complex() else values).double()


def deviations(
    compiled: Sequence[Any], eager: Sequence[Any], tolerance: Tolerance, exact: Callable[[], Sequence[Any]]
) -> dict[int, Deviation]:
    """Return the results that differ, by position. `exact` returns the float64 results; it is called only if needed.

    Args:
        compiled: the results of the compiled graph, in order.
        eager: the results of eager, in order.
        tolerance: how far results may differ.
        exact: returns the results in float64; it is called only if needed.
    """
    pairs = list(enumerate(zip(compiled, eager)))
    differing = {index: deviation(ours, theirs, tolerance) for index, (ours, theirs) in pairs}
    if tolerance.is_given or not any(differing.values()):
        return {index: difference for index, difference in differing.items() if difference is not None}
    judged = list(exact())
    kept = {}
    for index, (ours, theirs) in pairs:
        if differing[index] is not None:
            reference = judged[index] if index < len(judged) else None
            kept[index] = deviation(ours, theirs, tolerance, reference)
    return {index: difference for index, difference in kept.items() if difference is not None}
