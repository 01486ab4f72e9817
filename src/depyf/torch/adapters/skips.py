"""Notifications from torch that Dynamo skips a frame, and why.

torch only writes a line to a log for developers, which it drops by default. depyf receives the line where torch passes
it to the logger. The logger stays unchanged, because child loggers inherit its level.
"""

from __future__ import annotations

import logging
import os
import types
from collections.abc import Callable

import torch
from torch._dynamo import convert_frame

from depyf.model.run import Unavailable
from depyf.torch.adapters.twins import hear

Listener = Callable[[str, str, str], None]
"""Receives the frame's function, torch's reason, and the file."""

_MESSAGE = "skipping: %s (reason: %s, file: %s)"
_GIVEN_UP = ("Skipping frame %s %s %s %s", "Received signal to skip frame (without graph break): %s %s %s %s")
"""The messages, apart from blanks, for a frame in which Dynamo found nothing to compile, in releases without another:
the second in 2.11.
"""

OF_TORCH = os.path.dirname(torch.__file__) + os.sep
"""The prefix of torch's own files."""


def _told(message: object, args: tuple[object, ...]) -> tuple[str, str, str] | None:
    """Return the function, the reason and the file in a line of the log, or None for another line."""
    if message == _MESSAGE:
        name, reason, filename = map(str, args)
        return name, _short(reason), filename
    if isinstance(message, str) and " ".join(message.split()) in _GIVEN_UP:
        reason, name, filename, _ = map(str, args)
        return name, _short(reason.removeprefix("because ")), filename
    return None


def _short(reason: str) -> str:
    return " ".join(reason.split("Frame info:")[0].split())


def watch_skips(listener: Listener) -> Callable[[], None] | Unavailable:
    """Call `listener` for every skipped frame; return a function that ends this. `listener` must not raise."""
    log = getattr(convert_frame, "log", None)
    methods = vars(getattr(convert_frame, "CatchErrorsWrapper", object)).values()
    constants = [method.__code__.co_consts for method in methods if isinstance(method, types.FunctionType)]
    if not isinstance(log, logging.Logger) or not any(_MESSAGE in constant for constant in constants):
        return Unavailable("this torch does not report skipped frames in a form that depyf knows")

    def on_line(message: object, args: tuple[object, ...]) -> None:
        skip = _told(message, args)
        if skip is not None:
            listener(*skip)

    return hear(logging.getLogger(log.name), convert_frame.__name__, on_line)
