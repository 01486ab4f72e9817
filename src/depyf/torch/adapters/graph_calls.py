"""Notifications that a compiled graph raises an exception in a call.

Dynamo's code calls a graph through the wrapper of `torch._dynamo.disable`, which holds the backend's callable in its
closure. The wrapper stays the same object, and tracebacks stay the same.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

_HELD = "fn"
"""The free variable of torch's wrapper that holds the backend's callable."""
_CONTROL_FLOW = ("torch.utils.checkpoint",)
"""Modules whose exceptions are no errors: activation checkpointing ends a recomputation with one."""

Listener = Callable[[Exception, "types.FrameType | None"], None]
"""Receives an exception of a compiled graph, and the frame of the code that calls the graph. It must not raise."""


def watch_graph(graph: object, listener: Listener) -> Callable[[], None] | None:
    """Call `listener` if a compiled graph raises; return what ends this, or None if torch holds the graph elsewhere."""
    cell = _cell(graph)
    if cell is None or not isinstance(graph, types.FunctionType):
        return None
    inner: Any = cell.cell_contents

    def told(*args: Any, **kwargs: Any) -> object:
        try:
            return inner(*args, **kwargs)
        except Exception as error:
            if not type(error).__module__.startswith(_CONTROL_FLOW):
                listener(error, _caller(sys._getframe(1)))
            # Without this frame in it, the traceback is the same as without depyf.
            error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ is not None else None
            raise

    functools.update_wrapper(told, inner)
    cell.cell_contents = told
    held = weakref.ref(graph)

    def end() -> None:
        alive = held()
        own = _cell(alive) if alive is not None else None
        if own is not None and getattr(own.cell_contents, "__wrapped__", None) is not None:
            own.cell_contents = own.cell_contents.__wrapped__

    return end


def _cell(graph: object) -> types.CellType | None:
    """Return the cell of a graph's wrapper that holds the backend's callable."""
    if not isinstance(graph, types.FunctionType) or not getattr(graph, "_torchdynamo_disable", False):
        return None
    names = graph.__code__.co_freevars
    return (graph.__closure__ or ())[names.index(_HELD)] if _HELD in names else None


def _caller(frame: types.FrameType | None) -> types.FrameType | None:
    """Return the frame of Dynamo's code above torch's wrapper."""
    return frame.f_back if frame is not None and frame.f_code.co_name == "_fn" else frame
