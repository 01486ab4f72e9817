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
    function: Any = compiled._orig_mod if isinstance(compiled, OptimizedModule) else compiled
    function = getattr(function, "_torchdynamo_orig_callable", function)
    if not callable(function):
        raise TypeError(f"expected a compiled function or module, not a {type(compiled).__qualname__}")
    return function


def backend_of(compiled: object) -> Callable[..., Any] | None:
    """Return the backend that `torch.compile` was given, or None for another object."""
    context = getattr(compiled, "dynamo_ctx", None)
    backend: Any = getattr(context, "callback", None)
    if backend is None and isinstance(compiled, types.FunctionType):
        cells = zip(compiled.__code__.co_freevars, compiled.__closure__ or (), strict=True)
        backend = next((cell.cell_contents for name, cell in cells if name == "callback"), None)
    for _ in range(_DEEPEST_WRAPPER):
        inner = next((getattr(backend, name) for name in _INNER if hasattr(backend, name)), None)
        if inner is None:
            break
        backend = inner
    return backend if callable(backend) else None


def compiled_by(backend: Callable[..., Any] | str, module: Any, inputs: list[Any]) -> Callable[..., Any]:
    """Return a backend's result for a captured graph and some inputs, as Dynamo would call it.

    Before 2.7 Dynamo cannot compile a captured graph again if `vmap` is entered and left in it.

    Args:
        backend: the backend, or its name.
        module: the captured graph.
        inputs: the example inputs of the graph.
    """
    compiler: Any = torch._dynamo.lookup_backend(backend) if isinstance(backend, str) else backend
    compiled_graph: Callable[..., Any] = compiler(module, inputs)
    return compiled_graph


def forget_entry(code: types.CodeType, transformed: types.CodeType) -> None:
    """Disable the entry that runs `transformed`, if this torch can: it serves no call and holds nothing."""
    deleted = getattr(torch._dynamo.guards, "DeletedGuardManagerWrapper", None)
    for entry in seams.cache_entries(code):
        manager = seams.entry_guard_manager(entry)
        state = getattr(manager, "extra_state", None)
        if entry.code is transformed and deleted is not None and state is not None:
            state.invalidate(entry, deleted("its run was only looked at"))
            return
