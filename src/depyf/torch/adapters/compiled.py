"""The parts of an object that `torch.compile` made: the user's function, the backend, and entries to discard."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.eval_frame import OptimizedModule

from depyf.torch.adapters import seams

_INNER = ("_torchdynamo_orig_backend", "_torchdynamo_orig_callable")
"""The attributes through which a wrapper of a backend refers to the next one; before 2.8 the second."""

_DEEPEST_WRAPPER = 20


def original_callable(compiled: object) -> Callable[..., Any]:
    """Return the user's function or module, given that or the result of `torch.compile`.

    Raises:
        TypeError: it cannot be called.
    """
    found: Any = compiled._orig_mod if isinstance(compiled, OptimizedModule) else compiled
    found = getattr(found, "_torchdynamo_orig_callable", found)
    if not callable(found):
        raise TypeError(f"expected a compiled function or module, not a {type(compiled).__qualname__}")
    return found


def backend_of(compiled: object) -> Callable[..., Any] | None:
    """Return the backend that `torch.compile` was given, or None for another object."""
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
    """Return a backend's result for a captured graph and some inputs, as Dynamo would call it.

    Before 2.7 Dynamo cannot compile a captured graph again if `vmap` is entered and left in it.
    """
    compiler: Any = torch._dynamo.lookup_backend(backend) if isinstance(backend, str) else backend
    made: Callable[..., Any] = compiler(module, inputs)
    return made


def forget_entry(code: types.CodeType, made: types.CodeType) -> None:
    """Disable the entry that runs `made`, if this torch can: it serves no call and holds nothing."""
    deleted = getattr(torch._dynamo.guards, "DeletedGuardManagerWrapper", None)
    for entry in seams.cache_entries(code):
        manager = seams.entry_guard_manager(entry)
        state = getattr(manager, "extra_state", None)
        if entry.code is made and deleted is not None and state is not None:
            state.invalidate(entry, deleted("its run was only looked at"))
            return
