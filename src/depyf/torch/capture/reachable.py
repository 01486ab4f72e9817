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
        found = pending.popleft()
        if id(found) in seen:
            continue
        seen.add(id(found))
        kept.append(found)  # Keep objects that the walk itself creates, so that their addresses are not reused.
        if isinstance(found, types.FunctionType):
            yield found
        pending.extend(held(found))


def held(found: object) -> Iterable[object]:
    """Return the objects through which a callable may call other functions."""
    if isinstance(found, types.FunctionType):
        return [*cell_values(found).values(), *vars(found).values(), *(found.__defaults__ or ())]
    if isinstance(found, types.MethodType):
        runs = not isinstance(found.__self__, torch.fx.GraphModule) or found.__func__.__name__ in RUN_A_GRAPH
        return (found.__func__, found.__self__) if runs else ()
    if isinstance(found, types.BuiltinMethodType):
        return (found.__self__,)  # `apply` of an autograd function may be a C function.
    if isinstance(found, staticmethod | classmethod):
        return (found.__func__,)
    if isinstance(found, functools.partial):
        return [found.func, *found.args, *found.keywords.values()]
    if type(found) in (tuple, list):
        return found  # type: ignore[return-value]  # what `type` tells, mypy does not see
    return found.values() if type(found) is dict else _held_by_torch(found)


def _held_by_torch(found: object) -> Iterable[object]:
    """Return what graphs, generated classes and torch's own objects hold; nothing for other objects."""
    if isinstance(found, torch.fx.GraphModule):
        interpreted.compiled_to_python(found)  # A lazy module has no function of its own before its first run.
        # If Dynamo splits a graph, for example for `DistributedDataParallel`, its own modules hold the compiled parts.
        parts = [child for child in found.children() if isinstance(child, torch.fx.GraphModule) or _is_of_torch(child)]
        return [type(found).forward, *parts]
    if isinstance(found, type):
        is_generated = issubclass(found, torch.autograd.Function) and found is not torch.autograd.Function
        return list(vars(found).values()) if is_generated else ()
    if _is_of_torch(found):
        values = getattr(found, "__dict__", {}).values()
        return [each for each in values if not isinstance(each, torch.fx.GraphModule)]  # Kept for later or for display.
    return ()


def _is_of_torch(found: object) -> bool:
    return type(found).__module__.startswith(OWN_PACKAGES)


def cell_values(function: types.FunctionType) -> dict[str, object]:
    """Return the values of a function's free variables, without unbound ones."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            continue  # An empty cell holds nothing.
    return values
