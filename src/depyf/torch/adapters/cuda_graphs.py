"""Torch's words about CUDA graphs: which it records, which it records again and why, and which it skips.

They are lines of a log for developers, which torch drops unless somebody asked for them; of most there is no record in
its trace. depyf hears a line where torch hands it to the logger. Levels, handlers and filters stay as they are.
"""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from depyf.report.model import CompileId
from depyf.torch.adapters import seams
from depyf.torch.adapters.unseen import left_alone_with_calls
from depyf.trace.cuda_graphs import PARTS

Listener = Callable[[str, "tuple[CompileId, int] | None", str], None]
"""Is told a line of the log, the compile that it is about with its attempt, and the part of it, or an empty text."""

LOGS = (
    ("torch._inductor.cudagraph_utils", "cudagraphs"),
    ("torch._inductor.cudagraph_utils", "perf_hints"),
    ("torch._inductor.cudagraph_trees", "cudagraphs"),
)
"""The modules that say something, and the names of their logs: before 2.10 a skip is a hint about performance."""
_METHODS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
_DEEPEST = 12
"""Calls between what runs a graph and a line of the log about it; there are four."""


class CudaGraphLogs:
    """The logs that are listened to until the end, each from when torch makes it.

    A program can list the loggers that there are: one of Inductor's is not made where nobody uses Inductor.
    """

    def __init__(self, listener: Listener) -> None:
        """Have `listener` told of every line about CUDA graphs, which must not raise."""
        self._listener = listener
        known = set(getattr(getattr(torch._logging._internal, "log_registry", None), "artifact_names", ()))
        self._awaited = {f"{module}.__{name}": (module, name) for module, name in LOGS if name in known}
        self.unavailable = "" if self._awaited else "this torch has no log of its CUDA graphs"
        self._undo = ExitStack()

    def look_for_loggers(self) -> None:
        """Listen to the logs that torch has made meanwhile."""
        for name in [each for each in self._awaited if each in logging.Logger.manager.loggerDict]:
            log = torch._logging.getArtifactLogger(*self._awaited.pop(name))
            self._undo.callback(_hear(log, self._listener))

    def end(self) -> None:
        """Listen no more."""
        self._awaited.clear()
        self._undo.close()


def _hear(log: logging.Logger, listener: Listener) -> Callable[[], None]:
    before = {name: value for name, value in vars(log).items() if name in (*_METHODS, "isEnabledFor")}
    is_enabled: Callable[[int], bool] = log.isEnabledFor

    def heard(name: str) -> Callable[..., None]:
        passed_on = getattr(log, name)

        @left_alone_with_calls
        def say(message: object, *args: object, **kwargs: Any) -> None:
            listener(_text(message, args), *_about())
            if is_enabled(_METHODS[name]):
                # One level more: a record tells the line that calls.
                passed_on(message, *args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})

        return say

    @left_alone_with_calls
    def enabled(level: int) -> bool:
        """Answer torch's question whether anybody wants to know why it records again."""
        return level == logging.DEBUG or is_enabled(level)

    ours: dict[str, Callable[..., Any]] = {**{name: heard(name) for name in _METHODS}, "isEnabledFor": enabled}
    vars(log).update(ours)

    def end() -> None:
        for name, own in ours.items():
            if vars(log).get(name) is own:
                del vars(log)[name]
                vars(log).update({key: value for key, value in before.items() if key == name})

    return end


def _text(message: object, args: tuple[object, ...]) -> str:
    try:
        return str(message) % args if args else str(message)
    except (TypeError, ValueError):
        return f"{message} {args}"


def _about() -> tuple[tuple[CompileId, int] | None, str]:
    """Return the compile that torch speaks of and its part: the one that runs, else the one whose graph runs."""
    current = seams.current_compile()
    if current is not None:
        return current, ""
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(_DEEPEST):
        if frame is None:
            break
        told = frame.f_locals
        manager, kept = told.get("self"), told.get("kwargs")
        torchs = getattr(manager, "compile_id", None) or (kept.get("compile_id") if isinstance(kept, dict) else None)
        if torchs is not None and hasattr(torchs, "frame_id"):
            mode = getattr(manager, "id_to_mode", {}).get(told.get("function_id"))
            return (seams.read_compile_id(torchs), 0), PARTS.get(getattr(mode, "name", ""), "")
        frame = frame.f_back
    return None, ""
