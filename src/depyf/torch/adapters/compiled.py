"""What `torch.compile` made, taken apart: the user's function in it, its backend, and entries that nobody needs."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.eval_frame import OptimizedModule

from depyf.torch.adapters import seams

_INNER = ("_torchdynamo_orig_backend", "_torchdynamo_orig_callable")
"""By these a wrapper of a backend holds the next one; before 2.8 it is the second."""

_DEEPEST_WRAPPER = 20


def original_callable(compiled: object) -> Callable[..., Any]:
    """Return the user's function or module, given it or what `torch.compile` made of it.

    Raises:
        TypeError: it cannot be called.
    """
    found: Any = compiled._orig_mod if isinstance(compiled, OptimizedModule) else compiled
    found = getattr(found, "_torchdynamo_orig_callable", found)
    if not callable(found):
        raise TypeError(f"a compiled function or module is expected, not a {type(compiled).__qualname__}")
    return found


def backend_of(compiled: object) -> Callable[..., Any] | None:
    """Return the backend that `torch.compile` was given, or None for what it has not made."""
    context = getattr(compiled, "dynamo_ctx", None)
    found: Any = getattr(context, "callback", None)
    if found is None and isinstance(compiled, types.FunctionType):
        cells = zip(compiled.__code__.co_freevars, compiled.__closure__ or (), strict=True)
        found = next((cell.cell_contents for name, cell in cells if name == "callback"), None)
    for _ in range(_DEEPEST_WRAPPER):
        inner = next((getattr(found, name) for name in _INNER if hasattr(found, name)), None)
        if inner is None:
            break
        found = inner
    return found if callable(found) else None


def compiled_by(backend: Callable[..., Any] | str, module: Any, inputs: list[Any]) -> Callable[..., Any]:
    """Return what a backend makes of a captured graph for some inputs, as Dynamo would call it.

    Before 2.7 Dynamo does not compile a captured graph once more in which `vmap` is entered and left.
    """
    compiler: Any = torch._dynamo.lookup_backend(backend) if isinstance(backend, str) else backend
    made: Callable[..., Any] = compiler(module, inputs)
    return made


def forget_entry(code: types.CodeType, made: types.CodeType) -> None:
    """Take the entry that runs `made` out of service, where this torch can: it serves no call and holds nothing."""
    deleted = getattr(torch._dynamo.guards, "DeletedGuardManagerWrapper", None)
    for entry in seams.cache_entries(code):
        manager = seams.entry_guard_manager(entry)
        state = getattr(manager, "extra_state", None)
        if entry.code is made and deleted is not None and state is not None:
            state.invalidate(entry, deleted("its run was only looked at"))
            return
