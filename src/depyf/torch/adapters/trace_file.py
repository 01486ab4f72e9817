"""torch's own trace, written to a directory during a context."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path

import torch

from depyf.model.run import Unavailable
from depyf.torch.adapters import seams


def keep_trace(directory: Path) -> ExitStack | Unavailable:
    """Make torch write its trace to a directory, as `TORCH_TRACE` does. Closing the result ends it."""
    internal = getattr(torch._logging, "_internal", None)
    handler_type, formatter = (getattr(internal, name, None) for name in ("LazyTraceHandler", "TorchLogsFormatter"))
    if handler_type is None or formatter is None or not seams.has_structured_trace():
        return Unavailable("this torch writes no trace")
    logger, handler = logging.getLogger(seams.TRACE_LOGGER), handler_type(str(directory))
    handler.setFormatter(formatter(trace=True))
    _tell_strings(logger, handler)
    kept = ExitStack()
    kept.callback(handler.close)
    logger.addHandler(handler)
    kept.callback(logger.removeHandler, handler)
    return kept


def _tell_strings(logger: logging.Logger, handler: logging.Handler) -> None:
    """Write the file names that torch has already defined, because it defines each only once in a process."""
    strings = seams.interned_strings()
    for number, text in strings.items() if isinstance(strings, dict) else ():
        record = logger.makeRecord(logger.name, logging.DEBUG, __file__, 0, "", (), None)
        record.metadata = {"str": [text, number]}
        record.payload = None
        handler.emit(record)
