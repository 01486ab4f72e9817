"""Functions of torch that interpret a graph node by node, and what calls the graph's own code instead.

The `aot_eager` backends of torch before 2.10 run a graph by `torch.fx.Interpreter`: no line of the graph's code runs.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch.fx

_INTERPRETS = {"Interpreter", "boxed_run"}


def graph_of(function: types.FunctionType) -> torch.fx.GraphModule | None:
    """Return the graph that a function of torch's does nothing but interpret, or None."""
    code = function.__code__
    if not _INTERPRETS <= set(code.co_names) or len(code.co_freevars) != 1 or code.co_argcount != 1:
        return None
    assert function.__closure__ is not None
    found = function.__closure__[0].cell_contents
    return found if isinstance(found, torch.fx.GraphModule) else None


def calling(function: types.FunctionType) -> types.CodeType:
    """Return code that can take the place of that of a function that interprets a graph, and calls the graph."""
    made = _calling(None).__code__
    return made.replace(co_freevars=function.__code__.co_freevars)


def _calling(graph: Any) -> Callable[[list[object]], object]:
    def run(args: list[object]) -> object:
        # As the interpreter does: the caller's list is emptied, so that what is used up can be freed.
        values = list(args)
        args.clear()
        return graph.forward(*values)

    return run


def compiled_to_python(graph: torch.fx.GraphModule) -> None:
    """Have a graph make its Python code now, where it would when it is first called."""
    recompile = getattr(graph, "real_recompile", None)
    if recompile is not None:
        recompile()
