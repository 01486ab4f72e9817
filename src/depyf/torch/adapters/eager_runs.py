"""Notifications from Python that a function's own code runs, without Dynamo compiling the listener."""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from depyf.model.run import Unavailable

_FREE = (3, 4)
"""Python's tool ids that have no particular meaning."""


def watch_starts(listener: Callable[[types.CodeType], None], *calls: types.CodeType) -> Starts | Unavailable:
    """Return an object that calls `listener` at each start of the code objects that are added to it.

    `listener` must not raise; `calls` are the code objects of its callees.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        return Unavailable("Python before 3.12 cannot report which code runs without slowing down all code")
    tool = next((number for number in _FREE if monitoring.get_tool(number) is None), None)
    if tool is None:
        return Unavailable("other tools use all of Python's monitoring ids")
    return Starts(monitoring, tool, listener, calls)


class Starts:
    """The watched code objects. Other code runs at full speed."""

    def __init__(
        self,
        monitoring: Any,
        tool: int,
        listener: Callable[[types.CodeType], None],
        calls: Iterable[types.CodeType],
    ) -> None:
        self._monitoring = monitoring
        self._tool = tool
        self._codes: list[weakref.ref[types.CodeType]] = []

        def told(code: types.CodeType, offset: int) -> None:
            listener(code)

        for watching in (told.__code__, listener.__code__, *calls):
            _leave_alone(watching)
        monitoring.use_tool_id(tool, "depyf")
        monitoring.register_callback(tool, monitoring.events.PY_START, told)

    def add(self, code: types.CodeType) -> None:
        """Report each start of `code` from now on."""
        if not any(known() is code for known in self._codes):
            self._codes.append(weakref.ref(code))
            self._monitoring.set_local_events(self._tool, code, self._monitoring.events.PY_START)

    def end(self) -> None:
        """Stop reporting."""
        for watched in self._codes:
            if (code := watched()) is not None:
                self._monitoring.set_local_events(self._tool, code, 0)
        self._codes.clear()
        self._monitoring.register_callback(self._tool, self._monitoring.events.PY_START, None)
        self._monitoring.free_tool_id(self._tool)


def _leave_alone(code: types.CodeType) -> None:
    """Make Dynamo compile neither `code` nor its callees, because it runs where Dynamo inspects every frame."""
    from torch._C import _dynamo

    eval_frame: Any = _dynamo.eval_frame
    if hasattr(eval_frame, "set_code_exec_strategy"):
        from torch._dynamo.types import FrameAction, FrameExecStrategy

        eval_frame.set_code_exec_strategy(code, FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP))
    else:
        eval_frame.skip_code(code)
