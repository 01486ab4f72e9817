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
_GIVEN_UP = "Skipping frame %s %s %s %s"
"""What some releases say, blanks aside, of a frame in which Dynamo found nothing to compile: of them the only word."""

OF_TORCH = os.path.dirname(torch.__file__) + os.sep
"""How the names of torch's own files begin."""


class _Filter(logging.Filter):
    def __init__(self, listener: Listener, shown: int) -> None:
        super().__init__()
        self._listener, self._shown = listener, shown

    def filter(self, record: logging.LogRecord) -> bool:
        told = _told(record)
        if told is not None and not told[2].startswith(OF_TORCH):
            self._listener(*told)
        return record.levelno >= self._shown


def _told(record: logging.LogRecord) -> tuple[str, str, str] | None:
    """Return the function, the reason and the file that a line of the log tells of, or None for another line."""
    if not isinstance(record.args, tuple):
        return None
    if record.msg == _MESSAGE:
        name, reason, filename = map(str, record.args)
        return name, " ".join(reason.split("Frame info:")[0].split()), filename
    if " ".join(str(record.msg).split()) == _GIVEN_UP:
        reason, name, filename, _ = map(str, record.args)
        return name, " ".join(reason.removeprefix("because ").split()), filename
    return None


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
