"""The Python functions that a compiled graph calls: torch's wrappers, generated functions, and the graph itself."""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Iterable, Iterator

import torch
import torch.fx

from depyf.torch.adapters import interpreted

MOST_OBJECTS = 20_000
"""The most objects that are visited from one compiled graph; one of Inductor has a few thousand."""

OWN_PACKAGES = ("torch._functorch.", "torch._inductor.", "torch._dynamo.")
"""torch's packages whose objects hold the functions of a compiled graph in their attributes."""

RUN_A_GRAPH = ("forward", "_lazy_forward", "__call__", "_wrapped_call_impl", "_call_impl")
"""Methods of a graph module that run it. The others may be held for its parameters."""


def reachable_functions(compiled: object) -> Iterator[types.FunctionType]:
    """Yield each function that a compiled graph holds, nearest first.

    This follows closures, bound methods, partial functions, containers, autograd functions, graph modules and the
    objects of torch's compilers, but not tensors, parameters and the user's modules.
    """
    seen: set[int] = set()
    kept: list[object] = []
    pending: deque[object] = deque([compiled])
    while pending and len(kept) < MOST_OBJECTS:
        callable_part = pending.popleft()
        if id(callable_part) in seen:
            continue
        seen.add(id(callable_part))
        kept.append(callable_part)  # Keep objects that the walk itself creates, so that their addresses are not reused.
        if isinstance(callable_part, types.FunctionType):
            yield callable_part
        pending.extend(held(callable_part))


def held(owner: object) -> Iterable[object]:
    """Return the objects through which a callable may call other functions."""
    if isinstance(owner, types.FunctionType):
        return [*cell_values(owner).values(), *vars(owner).values(), *(owner.__defaults__ or ())]
    if isinstance(owner, types.MethodType):
        runs = not isinstance(owner.__self__, torch.fx.GraphModule) or owner.__func__.__name__ in RUN_A_GRAPH
        return (owner.__func__, owner.__self__) if runs else ()
    if isinstance(owner, types.BuiltinMethodType):
        return (owner.__self__,)  # `apply` of an autograd function may be a C function.
    if isinstance(owner, staticmethod | classmethod):
        return (owner.__func__,)
    if isinstance(owner, functools.partial):
        return [owner.func, *owner.args, *owner.keywords.values()]
    if type(owner) in (tuple, list):
        return owner  # type: ignore[return-value]  # what `type` tells, mypy does not see
    return owner.values() if type(owner) is dict else _held_by_torch(owner)


def _held_by_torch(owner: object) -> Iterable[object]:
    """Return what graphs, generated classes and torch's own objects hold; nothing for other objects."""
    if isinstance(owner, torch.fx.GraphModule):
        interpreted.compiled_to_python(owner)  # A lazy module has no function of its own before its first run.
        # If Dynamo splits a graph, for example for `DistributedDataParallel`, its own modules hold the compiled parts.
        parts = [child for child in owner.children() if isinstance(child, torch.fx.GraphModule) or _is_of_torch(child)]
        return [type(owner).forward, *parts]
    if isinstance(owner, type):
        is_generated = issubclass(owner, torch.autograd.Function) and owner is not torch.autograd.Function
        return list(vars(owner).values()) if is_generated else ()
    if _is_of_torch(owner):
        values = getattr(owner, "__dict__", {}).values()
        return [
            value for value in values if not isinstance(value, torch.fx.GraphModule)
        ]  # Kept for later or for display.
    return ()


def _is_of_torch(owner: object) -> bool:
    return type(owner).__module__.startswith(OWN_PACKAGES)


def cell_values(function: types.FunctionType) -> dict[str, object]:
    """Return the values of a function's free variables, without unbound ones."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            continue  # An empty cell holds nothing.
    return values
