"""torch's log of CUDA graphs: which it records, which it records again and why, and which it skips.

These are lines of a log for developers, which torch drops by default; most have no record in the trace. depyf receives
a line when torch passes it to the logger, and leaves the logger unchanged.
"""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Callable
from contextlib import ExitStack

import torch

from depyf.model.run import CompileId
from depyf.torch.adapters import seams
from depyf.torch.adapters.twins import hear
from depyf.trace.cuda_graphs import PARTS

Listener = Callable[[str, "tuple[CompileId, int] | None", str], None]
"""Receives a line of the log, the compile that it is about with its attempt, and the part of it, or ""."""

LOGS = (
    ("torch._inductor.cudagraph_utils", "cudagraphs"),
    ("torch._inductor.cudagraph_utils", "perf_hints"),
    ("torch._inductor.cudagraph_trees", "cudagraphs"),
)
"""The modules that log about CUDA graphs, and the names of their logs. Before 2.10 a skip is a performance hint."""
_PACKAGE = "torch._inductor"
"""The package whose modules have these loggers. Some import one from the module that makes it."""

_DEEPEST = 12
"""The most calls between the function that runs a graph and a log line about it; in practice four."""


class CudaGraphLogs:
    """The logs that depyf listens to until the end, each from when torch creates it.

    A program can list the existing loggers, so depyf does not create Inductor's loggers in programs without Inductor.
    """

    def __init__(self, listener: Listener) -> None:
        """Pass every line about CUDA graphs to `listener`, which must not raise."""
        self._listener = listener
        known = set(getattr(getattr(torch._logging._internal, "log_registry", None), "artifact_names", ()))
        self._awaited = {f"{module}.__{name}": (module, name) for module, name in LOGS if name in known}
        self.unavailable = "" if self._awaited else "this torch has no log of its CUDA graphs"
        self._undo = ExitStack()

    def look_for_loggers(self) -> None:
        """Listen to the logs of modules that were imported in the meantime."""
        for name in [name for name in self._awaited if self._awaited[name][0] in sys.modules]:
            if name in logging.Logger.manager.loggerDict:
                del self._awaited[name]
                self._undo.callback(hear(logging.getLogger(name), _PACKAGE, self._on_line, is_curious=True))

    def _on_line(self, message: object, args: tuple[object, ...]) -> None:
        self._listener(_text(message, args), *_about())

    def end(self) -> None:
        """Stop listening."""
        self._awaited.clear()
        self._undo.close()


def _text(message: object, args: tuple[object, ...]) -> str:
    try:
        return str(message) % args if args else str(message)
    except (TypeError, ValueError):
        return f"{message} {args}"


def _about() -> tuple[tuple[CompileId, int] | None, str]:
    """Return the compile that a line is about, and its part: the running compile, else the one whose graph runs."""
    current = seams.current_compile()
    if current is not None:
        return current, ""
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(_DEEPEST):
        if frame is None:
            break
        values = frame.f_locals
        manager, kept = values.get("self"), values.get("kwargs")
        torchs = getattr(manager, "compile_id", None) or (kept.get("compile_id") if isinstance(kept, dict) else None)
        if torchs is not None and hasattr(torchs, "frame_id"):
            mode = getattr(manager, "id_to_mode", {}).get(values.get("function_id"))
            return (seams.read_compile_id(torchs), 0), PARTS.get(getattr(mode, "name", ""), "")
        frame = frame.f_back
    return None, ""
