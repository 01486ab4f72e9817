"""Mark each user line that runs among the profiler's events, with Python's own tracing.

Tracing is slow, so only a few steps are traced, and only the order of their operations is used.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from depyf.bytecode.records import dataclass
from depyf.links.profile.events import LINE
from depyf.model.user_source import is_installed
from depyf.torch.adapters.left_alone import leave_alone
from depyf.torch.profile.kineto import mark


def is_traced() -> bool:
    """Return whether a trace function is set in this thread."""
    return sys.gettrace() is not None


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one function, identified by the name, file and first line of its code, and a callback for each call."""

    code: tuple[str, str, int]
    tell: Callable[[], None]

    def noticed(self, code: types.CodeType) -> None:
        """Call the callback if `code` is that function."""
        if (code.co_name, code.co_filename, code.co_firstlineno) == self.code:
            self.tell()


class LineMarks:
    """Traces the lines of one thread, including calls that are running when it begins.

    calls: the function whose calls are reported before they run.
    with_lines: whether to mark lines.
    with_libraries: whether to mark lines of installed packages that compiled graphs name; torch's are never marked.
    """

    def __init__(self, calls: Calls | None = None, *, with_lines: bool = True, with_libraries: bool = False) -> None:
        self._calls = calls
        self._with_lines = with_lines
        self._with_libraries = with_libraries
        self._own: dict[types.CodeType, bool] = {}
        self._traced: list[types.FrameType] = []
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and with_lines:
            if frame.f_trace is None and self._is_own(frame):
                frame.f_trace = self._line
                self._traced.append(frame)
            frame = frame.f_back
        for method in (LineMarks._call, LineMarks._line):
            leave_alone(method.__code__)
        sys.settrace(self._call)

    def end(self) -> None:
        """Stop marking."""
        sys.settrace(None)
        for frame in self._traced:
            frame.f_trace = None
        self._traced.clear()

    def _is_own(self, frame: types.FrameType) -> bool:
        code = frame.f_code
        known = self._own.get(code)
        if known is None:
            file = code.co_filename
            is_left_out = file.startswith(_TORCH) if self._with_libraries else is_installed(file)
            # Inductor's modules are named as torch's own, and are outside of its folder.
            is_left_out |= str(frame.f_globals.get("__name__")).startswith("torch.")
            known = not (file.startswith(("<", _OURS)) or is_left_out)
            self._own[code] = known
        return known

    def _call(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if self._calls is not None:
            self._calls.noticed(frame.f_code)
        return self._line if self._with_lines and self._is_own(frame) else None

    def _line(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            mark(f"{LINE}{frame.f_code.co_filename}:{frame.f_lineno}")
        elif event == "return" and (caller := self._caller(frame)) is not None:
            # After the call, operations belong to the line that called.
            mark(f"{LINE}{caller.f_code.co_filename}:{caller.f_lineno}")
        return self._line

    def _caller(self, frame: types.FrameType) -> types.FrameType | None:
        """Return the innermost of the marked frames that called a frame, also by a library."""
        caller = frame.f_back
        while caller is not None and not self._is_own(caller):
            caller = caller.f_back
        return caller


_OURS = __file__.rsplit("torch", 1)[0]
_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
