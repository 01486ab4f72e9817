"""All operations that Inductor writes in Triton, in ten dtypes, in Triton's interpreter against torch.

    python -m benchmarks.interpreter_sweep                    # needs triton
    python -m benchmarks.interpreter_sweep --dtypes bfloat16  # some dtypes

Inductor's kernels are right: an operation whose interpreted result is not torch's, beyond rounding, is one that a
report would blame wrongly. Operations that torch or Inductor refuses for a dtype are left out. Those that the
interpreter cannot run are printed: they cannot be judged, and are not called wrong.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._inductor.config
from torch import Tensor

from benchmarks.bar import MOST_DETAILS, Bar, report
from depyf.torch.kernels.interpreter import interpreting

CHUNK = 16
"""The operations that are compiled together. If such a group fails or differs, each of it runs alone."""

DTYPES = (
    *(torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.bool),
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
)
TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-5, torch.float64: 2e-6}
"""The allowed distances, relative to the size of a result. CUDA's libdevice and torch's CPU functions round apart."""

Operation = Callable[[Tensor, Tensor], Any]
_UNARY = (
    "abs neg sign relu sigmoid tanh exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos"
    " atan sinh cosh asinh acosh atanh erf erfc floor ceil round trunc frac isnan isinf isfinite signbit logical_not"
    " bitwise_not square positive lgamma digamma erfinv sgn logit nan_to_num"
)
_BINARY = (
    "add sub mul div maximum minimum fmod remainder floor_divide pow atan2 copysign hypot nextafter eq ne lt le gt ge"
    " logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor xlogy logaddexp fmax fmin"
)
_REDUCTIONS = "sum mean prod amax amin argmax argmin all any var std logsumexp"
_SCANS = "cumsum cumprod logcumsumexp"


def _unary(name: str) -> Operation:
    function = getattr(torch, name)
    return lambda x, y: function(x)


def _binary(name: str) -> Operation:
    function = getattr(torch, name)
    return lambda x, y: function(x, y)


def _along(name: str, dimension: int) -> Operation:
    function = getattr(torch, name)
    return lambda x, y: function(x, dimension)


def _cast(*dtypes: torch.dtype) -> Operation:
    def cast(x: Tensor, y: Tensor) -> Tensor:
        for dtype in dtypes:
            x = x.to(dtype)
        return x

    return cast


def operations(dtype: torch.dtype) -> Iterator[tuple[str, Operation]]:
    """Yield the operations with their names: functions of two tensors."""
    for name in _UNARY.split():
        yield name, _unary(name)
    for name in _BINARY.split():
        yield name, _binary(name)
    for name in _REDUCTIONS.split():
        yield f"{name} of rows", _along(name, -1)
        yield f"{name} of columns", _along(name, 0)
    for name in _SCANS.split():
        yield name, _along(name, -1)
    yield "sort", lambda x, y: torch.sort(x, -1, stable=True)[0]
    yield "sort, indices", lambda x, y: torch.sort(x, -1, stable=True)[1]
    yield "where", lambda x, y: torch.where(x > y, x, y)
    yield "clamp", lambda x, y: x.clamp(1, 2)
    yield "left shift", lambda x, y: x << 1
    yield "right shift", lambda x, y: x >> 1
    yield "softmax", lambda x, y: torch.softmax(x, -1)
    yield "gelu", lambda x, y: torch.nn.functional.gelu(x)
    for other in DTYPES:
        yield f"cast to {str(other).removeprefix('torch.')}", _cast(other)
    if dtype.is_floating_point:
        for name in ("float8_e4m3fn", "float8_e5m2"):
            yield f"cast through {name}", _cast(getattr(torch, name), dtype)


def inputs(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return two tensors of a dtype, without values that a cast cannot represent."""
    generator = torch.Generator().manual_seed(0)
    if dtype == torch.bool:
        return torch.rand(4, 16, generator=generator) > 0.5, torch.rand(4, 16, generator=generator) > 0.5
    if not dtype.is_floating_point:
        low = 0 if dtype == torch.uint8 else -6
        x, y = (torch.randint(low, 7, (4, 16), generator=generator) for _ in range(2))
        return x.to(dtype), torch.where(y == 0, 3, y).to(dtype)
    x, y = (torch.randn(4, 16, generator=generator) * 1.5 for _ in range(2))
    return x.to(dtype), y.to(dtype)


def is_right(ours: Tensor, theirs: Tensor, dtype: torch.dtype) -> bool:
    """Return whether an interpreted result is torch's, up to rounding."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    kinds = [kind for kind in (dtype, theirs.dtype) if kind in TOLERANCES]
    if not theirs.is_floating_point():
        return torch.equal(ours, theirs)
    tolerance = max((TOLERANCES[kind] for kind in kinds), default=0.0)
    left, right = ours.double(), theirs.double()
    return torch.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)


class Sweep:
    """The outcomes: `right`, `wrong`, `unjudged` with the error, and `left_out`, by operation and dtype."""

    def __init__(self) -> None:
        """Begin without outcomes."""
        self.outcomes: dict[tuple[str, str], tuple[str, str]] = {}

    def of_dtype(self, dtype: torch.dtype) -> None:
        """Run all operations in one dtype."""
        x, y = inputs(dtype)
        name, known = str(dtype).removeprefix("torch."), []
        for operation, function in operations(dtype):
            try:
                known.append((operation, function, function(x, y)))
            except (RuntimeError, TypeError) as error:
                self.outcomes[operation, name] = "left out", str(error)[:80]
        for begin in range(0, len(known), CHUNK):
            self._together(known[begin : begin + CHUNK], (x, y), name, dtype)

    def _together(self, known: list[Any], given: tuple[Tensor, Tensor], name: str, dtype: torch.dtype) -> None:
        functions = [function for _, function, _ in known]
        torch._dynamo.reset()
        try:
            results = torch.compile(lambda x, y: [function(x, y) for function in functions])(*given)
            judged = [is_right(ours, theirs, dtype) for ours, (_, _, theirs) in zip(results, known, strict=True)]
        except Exception as error:  # noqa: BLE001 - Inductor and the interpreter may raise anything
            judged, problem = [], f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]
        if judged and (all(judged) or len(known) == 1):
            for (operation, _, _), good in zip(known, judged, strict=True):
                self.outcomes[operation, name] = ("right", "") if good else ("wrong", "")
        elif len(known) == 1:
            self.outcomes[known[0][0], name] = "unjudged", problem
        else:
            middle = len(known) // 2
            self._together(known[:middle], given, name, dtype)
            self._together(known[middle:], given, name, dtype)


def bars(sweep: Sweep) -> list[Bar]:
    """Return the bars."""
    counts = Counter(outcome for outcome, _ in sweep.outcomes.values())
    wrong = [f"{operation}, {dtype}" for (operation, dtype), (kind, _) in sweep.outcomes.items() if kind == "wrong"]
    open_ = [
        f"cannot be judged: {operation}, {dtype}: {why}"
        for (operation, dtype), (kind, why) in sweep.outcomes.items()
        if kind == "unjudged"
    ]
    for line in open_:
        print(line, file=sys.stderr)
    judged = counts["right"] + counts["wrong"]
    note = f"{counts['unjudged']} cannot be judged, {counts['left out']} do not exist in torch"
    what = "interpreter: right kernels called wrong"
    return [Bar(what, f"{len(wrong)} of {judged}", not wrong and judged > 0, wrong[:MOST_DETAILS], note)]


def main() -> None:
    """Print the bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interpreter_sweep")
    parser.add_argument("--dtypes", nargs="+", help="the names of some dtypes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    sweep = Sweep()
    chosen = [getattr(torch, name) for name in options.dtypes] if options.dtypes else DTYPES
    with interpreting(), torch._inductor.config.patch(cpu_backend="triton", force_disable_caches=True):
        for dtype in chosen:
            sweep.of_dtype(dtype)
            print(f"{dtype} done", file=sys.stderr, flush=True)
    report(bars(sweep))


if __name__ == "__main__":
    main()
