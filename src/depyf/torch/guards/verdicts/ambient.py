"""The global state of torch that compiled code depends on, as names and plain values.

Torch guards it with one object, `GlobalStateGuard`, which describes itself as JSON with numbers for dtypes. This module
gives each flag a name and leaves out usual values: `{"grad_mode": False, "num_threads": 2}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Any

import torch

from depyf.torch.adapters import global_state
from depyf.torch.adapters.global_state import TorchFunctionState

USUAL: dict[str, object] = {
    "grad_mode": True,
    "autocast": None,
    "autocast_cache": True,
    "torch_function": True,
    "torch_function_all_disabled": False,
    "torch_function_modes": (),
    "deterministic_algorithms": False,
    "deterministic_algorithms_warn_only": False,
    "allow_tf32": False,
    "allow_fp16_reduce": 0,
    "allow_bf16_reduce": 0,
    "cuda_matmul_precision": "none",
    "default_device": None,
    "saved_tensors_hooks": None,
}
"""The value of a flag that a guard does not mention."""


def _dtypes_by_number() -> dict[int, torch.dtype]:
    """Return the dtype for each number that torch's JSON uses."""
    names = (
        "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8 quint8 qint32 "
        "bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz "
        "float8_e4m3fnuz uint16 uint32 uint64"
    ).split()
    return {number: getattr(torch, name) for number, name in enumerate(names) if hasattr(torch, name)}


_DTYPES = _dtypes_by_number()
_PRECISIONS = ("none", "ieee", "tf32", "bf16")
"""The values of `torch.backends.cuda.matmul.fp32_precision`, by torch's numbers."""
_REDUCTIONS = ("allow_fp16_reduce", "allow_bf16_reduce")


def dtype_of(number: int) -> object:
    """Return the dtype with this number in torch's C++, or the number itself if this torch has no name for it."""
    return _DTYPES.get(number, number)


def _autocast(state: dict[str, Any]) -> object:
    """Return None if autocast is off, otherwise `{device: dtype}` of the devices for which it is on.

    Torch also ignores the dtype of a device for which autocast is off.
    """
    devices = global_state.autocast_devices()
    on = {
        devices[index] if index < len(devices) else str(index): dtype_of(state["dtype"][index])
        for index, enabled in enumerate(state["enabled"])
        if enabled
    }
    return on or None


def flags(description: str) -> dict[str, object]:
    """Return the named flags in `description`, the JSON in which a `GlobalStateGuard` describes itself."""
    return dict(_flags(description))


@lru_cache(maxsize=64)
def _flags(description: str) -> Mapping[str, object]:
    raw: dict[str, Any] = json.loads(description)
    autocast = raw.pop("autocast_state")
    named: dict[str, object] = {
        **raw,
        "default_dtype": dtype_of(raw["default_dtype"]),
        "autocast": _autocast(autocast),
        "autocast_cache": autocast["cached_enabled"],
        **{name: global_state.reduction(raw[name]) for name in _REDUCTIONS if name in raw},
    }
    precision = raw.get("cuda_matmul_precision")
    if precision is not None and precision < len(_PRECISIONS):
        named["cuda_matmul_precision"] = _PRECISIONS[precision]
    return dict(sorted(named.items()))


before_guards: ContextVar[TorchFunctionState | None] = ContextVar("before_guards", default=None)
"""The state of the running guard's caller, or None outside of guards."""


def own_flags() -> dict[str, object]:
    """Return the flags of torch's current state, as the caller of a guard sees them."""
    state = flags(global_state.description()) if global_state.describes_itself() else global_state.read()
    outside = before_guards.get()
    if outside is not None:
        state["torch_function"] = outside.enabled
        if "torch_function_all_disabled" in state:
            state["torch_function_all_disabled"] = outside.all_disabled
    return dict(sorted(state.items()))


@cache
def looked_at() -> tuple[str, ...]:
    """Return the names of the flags that this torch's guards check."""
    return tuple(current())


def current() -> dict[str, object]:
    """Return every flag of the current state that this torch's guards check."""
    return {**own_flags(), **global_state.around()}
