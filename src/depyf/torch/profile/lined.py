"""Marks each line of the user's that runs, among the profiler's events, by Python's own tracing.

It is slow, so it is done in a few steps alone, of which only the order of operations is used.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from depyf.report.profile.events import LINE
from depyf.report.user_source import is_installed
from depyf.torch.adapters.left_alone import leave_alone
from depyf.torch.profile.kineto import mark


def is_traced() -> bool:
    """Return whether somebody traces this thread."""
    return sys.gettrace() is not None


class LineMarks:
    """Traces the lines of one thread, also of the calls that run when it begins."""

    def __init__(self) -> None:
        self._own: dict[types.CodeType, bool] = {}
        self._traced: list[types.FrameType] = []
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_trace is None and self._is_own(frame.f_code):
                frame.f_trace = self._line
                self._traced.append(frame)
            frame = frame.f_back
        for method in (LineMarks._call, LineMarks._line):
            leave_alone(method.__code__)
        sys.settrace(self._call)

    def end(self) -> None:
        """Mark no more."""
        sys.settrace(None)
        for frame in self._traced:
            frame.f_trace = None
        self._traced.clear()

    def _is_own(self, code: types.CodeType) -> bool:
        known = self._own.get(code)
        if known is None:
            file = code.co_filename
            known = not (file.startswith(("<", _OURS)) or is_installed(file))
            self._own[code] = known
        return known

    def _call(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if not self._is_own(frame.f_code):
            return None
        return self._line

    def _line(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            mark(f"{LINE}{frame.f_code.co_filename}:{frame.f_lineno}")
        elif event == "return" and frame.f_back is not None and self._is_own(frame.f_back.f_code):
            # What the caller does after the call is of the line that called.
            mark(f"{LINE}{frame.f_back.f_code.co_filename}:{frame.f_back.f_lineno}")
        return self._line


_OURS = __file__.rsplit("torch", 1)[0]
