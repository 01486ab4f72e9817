"""torch's global state, as far as this torch's guards check it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache

import torch
import torch.utils._device

from depyf.bytecode.records import dataclass
from depyf.torch.adapters import cpp_guards


@cache
def describes_itself() -> bool:
    """Return whether torch's snapshot of its state can be read: from 2.8 on it is JSON."""
    return "__getstate__" in vars(cpp_guards.GlobalStateGuard)


def description() -> str:
    """Return torch's JSON description of its current state."""
    return str(cpp_guards.GlobalStateGuard().__getstate__())


def read() -> dict[str, object]:
    """Return the flags that torch compares, under the names of its JSON, if its snapshot cannot be read."""
    matmul = torch.backends.cuda.matmul
    flags: dict[str, object] = {
        "grad_mode": torch.is_grad_enabled(),
        "torch_function": torch._C._is_torch_function_enabled(),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "deterministic_algorithms_warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "allow_tf32": matmul.allow_tf32,
        "allow_fp16_reduce": reduction(matmul.allow_fp16_reduced_precision_reduction),
        "allow_bf16_reduce": reduction(matmul.allow_bf16_reduced_precision_reduction),
        "num_threads": torch.get_num_threads(),
        "default_dtype": torch.get_default_dtype(),
    }
    if hasattr(torch._C, "_is_torch_function_all_disabled"):
        flags["torch_function_all_disabled"] = torch._C._is_torch_function_all_disabled()
    return flags


def reduction(allowed: bool | int) -> int:
    """Return torch's number for reduced precision in a reduction; 0, the default, means allowed.

    In the JSON of 2.8 and 2.9 it is a boolean.
    """
    return int(not allowed) if isinstance(allowed, bool) else allowed


@dataclass(frozen=True, slots=True)
class TorchFunctionState:
    """Whether `__torch_function__` is on. Guards switch it off while they check values."""

    enabled: bool
    all_disabled: bool
    raw: object


def torch_function_state() -> TorchFunctionState:
    """Return whether `__torch_function__` is on now."""
    enabled = torch._C._is_torch_function_enabled()
    whole = getattr(torch._C, "_is_torch_function_all_disabled", None)
    raw = getattr(torch._C, "_get_torch_function_state", None)
    return TorchFunctionState(enabled, whole() if whole else not enabled, raw() if raw else None)


@contextlib.contextmanager
def with_torch_function(state: TorchFunctionState) -> Iterator[None]:
    """Switch `__torch_function__` to a state inside the context."""
    if state.raw is not None:
        now = torch._C._get_torch_function_state()
        torch._C._set_torch_function_state(state.raw)
        try:
            yield
        finally:
            torch._C._set_torch_function_state(now)
    elif state.enabled:
        # Before 2.5 the state cannot be set, only switched on for a while.
        with torch._C._EnableTorchFunction():
            yield
    else:
        yield


def saved_tensors_hooks() -> tuple[object, ...] | None:
    """Return the saved-tensors hooks that Dynamo would trace into the graph, or None."""
    from torch._functorch._aot_autograd import utils

    hooks = utils.top_saved_tensors_hooks()
    return tuple(hooks) if utils.saved_tensors_hooks_are_inlineable(hooks) else None


def around() -> dict[str, object]:
    """Return what guards of this torch check besides its global state: modes, the default device, and hooks."""
    state: dict[str, object] = {"default_device": torch.utils._device.CURRENT_DEVICE}
    if cpp_guards.looks_at("TORCH_FUNCTION_MODE_STACK"):
        state["torch_function_modes"] = mode_types()
    if _traces_saved_tensors_hooks():
        state["saved_tensors_hooks"] = saved_tensors_hooks()
    return state


@cache
def _traces_saved_tensors_hooks() -> bool:
    from torch._functorch._aot_autograd import utils

    return hasattr(utils, "saved_tensors_hooks_are_inlineable")


def mode_types() -> tuple[type, ...]:
    """Return the types of the active torch function modes, outermost first."""
    return tuple(type(torch._C._get_function_stack_at(at)) for at in range(torch._C._len_torch_function_stack()))


def autocast_devices() -> list[str]:
    """Return the device types with autocast, in the order of torch's numbers for them."""
    return list(torch._C._autocast_supported_devices())
