"""Torch's word that Dynamo leaves a frame as the user wrote it, and why.

Torch has no record of it but a line in a log of its own for developers. The log is listened to at the level of that
line, and what nobody asked to see is kept from everybody else.
"""

from __future__ import annotations

import logging
import os
import types
from collections.abc import Callable

import torch
from torch._dynamo import convert_frame

from depyf.report.model import Unavailable

Listener = Callable[[str, str, str], None]
"""Is told the frame's function, torch's reason, and the file, which is none of torch's own."""

_MESSAGE = "skipping: %s (reason: %s, file: %s)"


_OF_TORCH = os.path.dirname(torch.__file__) + os.sep


class _Filter(logging.Filter):
    def __init__(self, listener: Listener, shown: int) -> None:
        super().__init__()
        self._listener, self._shown = listener, shown

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg == _MESSAGE and isinstance(record.args, tuple):
            name, reason, filename = map(str, record.args)
            if not filename.startswith(_OF_TORCH):
                self._listener(name, " ".join(reason.split("Frame info:")[0].split()), filename)
        return record.levelno >= self._shown


def watch_skips(listener: Listener) -> Callable[[], None] | Unavailable:
    """Have `listener` told of every frame that Dynamo skips; return what ends that. `listener` must not raise."""
    log = getattr(convert_frame, "log", None)
    methods = vars(getattr(convert_frame, "CatchErrorsWrapper", object)).values()
    constants = [each.__code__.co_consts for each in methods if isinstance(each, types.FunctionType)]
    if not isinstance(log, logging.Logger) or not any(_MESSAGE in each for each in constants):
        return Unavailable("this torch does not say in a form that depyf knows which frames Dynamo skips")
    before, seen = log.level, _Filter(listener, log.getEffectiveLevel())
    log.addFilter(seen)
    log.setLevel(logging.DEBUG)

    def end() -> None:
        log.removeFilter(seen)
        if log.level == logging.DEBUG:
            log.setLevel(before)

    return end
