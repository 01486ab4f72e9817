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

import torch

from depyf.torch.adapters.tracebacks import leave_out_own_frame, own_frames_stay
from depyf.torch.adapters.unseen import left_alone

_HELD = "fn"
"""The free variable of torch's wrapper that holds the backend's callable."""
_CONTROL_FLOW = ("torch.utils.checkpoint",)
"""Modules whose exceptions are no errors: activation checkpointing ends a recomputation with one."""

Listener = Callable[[Exception, "types.FrameType | None", str], None]
"""Receives an exception of a compiled graph, the frame of the code that calls the graph, and the part that raised:
`CALL`, `BACKWARD` or `COMPILE_OF_BACKWARD`. It must not raise."""
CALL, BACKWARD, COMPILE_OF_BACKWARD = "", ", in its backward", ", in the compile of its backward"


def watch_graph(graph: object, listener: Listener) -> Callable[[], None] | None:
    """Call `listener` if a compiled graph raises; return what ends this, or None if torch holds the graph elsewhere."""
    cell = _cell(graph)
    if cell is None or not isinstance(graph, types.FunctionType) or own_frames_stay():
        return None
    inner: Any = cell.cell_contents
    backward = _Backward(listener)

    def told(*args: Any, **kwargs: Any) -> object:
        try:
            outputs = inner(*args, **kwargs)
        except Exception as error:
            _report(error, listener, sys._getframe(1), CALL)
            raise
        if backward.is_wanted:
            backward.look_at(outputs)
        return outputs

    functools.update_wrapper(told, inner)
    cell.cell_contents = told
    # The graph belongs to the program, which may drop it.
    held, wrapper_ref = weakref.ref(graph), weakref.ref(told)

    def end() -> None:
        cell_now, mine = _cell(held()), wrapper_ref()
        if cell_now is not None and mine is not None and cell_now.cell_contents is mine:
            cell_now.cell_contents = vars(mine)["__wrapped__"]
        backward.end()

    return end


@left_alone
def _report(error: Exception, listener: Listener, frame: types.FrameType, part: str) -> None:
    """Report an exception, and remove the calling frame of depyf's from its traceback."""
    if not type(error).__module__.startswith(_CONTROL_FLOW):
        listener(error, _caller(frame), part)
    leave_out_own_frame(error)


class _Backward:
    """The backward of one compiled graph. AOTAutograd makes a class for it, which the results of a call lead to."""

    def __init__(self, listener: Listener) -> None:
        self.is_wanted = True
        self._listener = listener
        self._class: weakref.ref[type] | None = None
        self._original: object = None

    def look_at(self, results: object) -> None:
        """Watch the backward of the graph that returned these results, if they need gradients.

        The guards fix which inputs need gradients, so the first call shows whether there is a backward.
        """
        self.is_wanted = False
        for result in results if type(results) in (tuple, list) else (results,):  # type: ignore[attr-defined]
            # Other classes of tensors run code of the program.
            node = result.grad_fn if type(result) is torch.Tensor and result.requires_grad else None
            forward_class = getattr(type(node), "_forward_cls", None)
            if isinstance(forward_class, type) and forward_class.__module__.startswith("torch._functorch."):
                self._watch(forward_class)
                return

    def _watch(self, autograd_class: type) -> None:
        original: Any = vars(autograd_class).get("backward")
        if not isinstance(original, staticmethod):
            return
        listener, plain = self._listener, original.__func__

        def backward(*args: Any) -> object:
            try:
                return plain(*args)
            except Exception as error:
                is_compiled = getattr(autograd_class, "compiled_bw", None) is not None
                _report(error, listener, sys._getframe(), BACKWARD if is_compiled else COMPILE_OF_BACKWARD)
                raise

        functools.update_wrapper(left_alone(backward), plain)
        self._class, self._original = weakref.ref(autograd_class), original
        autograd_class.backward = staticmethod(backward)  # type: ignore[attr-defined]

    def end(self) -> None:
        """Give the class its own backward again."""
        autograd_class = self._class() if self._class is not None else None
        if autograd_class is not None:
            autograd_class.backward = self._original  # type: ignore[attr-defined]


def _cell(graph: object) -> types.CellType | None:
    """Return the cell of a graph's wrapper that holds the backend's callable."""
    if not isinstance(graph, types.FunctionType) or not getattr(graph, "_torchdynamo_disable", False):
        return None
    names = graph.__code__.co_freevars
    return (graph.__closure__ or ())[names.index(_HELD)] if _HELD in names else None


@left_alone
def _caller(frame: types.FrameType | None) -> types.FrameType | None:
    """Return the frame of Dynamo's code above torch's wrapper."""
    return frame.f_back if frame is not None and frame.f_code.co_name == "_fn" else frame
