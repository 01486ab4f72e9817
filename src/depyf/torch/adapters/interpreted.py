"""Functions of torch that interpret a graph node by node, and code that calls the graph's own code instead.

The `aot_eager` backends of torch before 2.10 run a graph with `torch.fx.Interpreter`, so no line of the graph's code
runs.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch.fx

_INTERPRETS = {"Interpreter", "boxed_run"}


def graph_of(function: types.FunctionType) -> torch.fx.GraphModule | None:
    """Return the graph that a function of torch's only interprets, or None."""
    code = function.__code__
    if not _INTERPRETS <= set(code.co_names) or len(code.co_freevars) != 1 or code.co_argcount != 1:
        return None
    assert function.__closure__ is not None
    held_graph = function.__closure__[0].cell_contents
    return held_graph if isinstance(held_graph, torch.fx.GraphModule) else None


def calling(function: types.FunctionType) -> types.CodeType:
    """Return code that calls the graph. It replaces the code of a function that interprets the graph."""
    caller_code = _calling(None).__code__
    return caller_code.replace(co_freevars=function.__code__.co_freevars)


def _calling(graph: Any) -> Callable[[list[object]], object]:
    def run(args: list[object]) -> object:
        # Like the interpreter, empty the caller's list, so that used values can be freed.
        values = list(args)
        args.clear()
        return graph.forward(*values)

    return run


def compiled_to_python(graph: torch.fx.GraphModule) -> None:
    """Make a graph generate its Python code now instead of at its first call."""
    recompile = getattr(graph, "real_recompile", None)
    if recompile is not None:
        recompile()
