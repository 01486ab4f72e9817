"""Torch's word that Dynamo leaves a frame as the user wrote it, and why.

Torch's only word of it is a line in a log for developers, which it drops unless somebody asked for that level. depyf
hears the line where torch hands it to the logger, which stays as it is: child loggers inherit its level.
"""

from __future__ import annotations

import logging
import os
import types
from collections.abc import Callable

import torch
from torch._dynamo import convert_frame

from depyf.report.model import Unavailable
from depyf.torch.adapters.twins import hear

Listener = Callable[[str, str, str], None]
"""Is told the frame's function, torch's reason, and the file."""

_MESSAGE = "skipping: %s (reason: %s, file: %s)"
_GIVEN_UP = "Skipping frame %s %s %s %s"
"""What some releases say, blanks aside, of a frame in which Dynamo found nothing to compile: of them the only word."""

OF_TORCH = os.path.dirname(torch.__file__) + os.sep
"""How the names of torch's own files begin."""


def _told(message: object, args: tuple[object, ...]) -> tuple[str, str, str] | None:
    """Return the function, the reason and the file that a line of the log tells of, or None for another line."""
    if message == _MESSAGE:
        name, reason, filename = map(str, args)
        return name, " ".join(reason.split("Frame info:")[0].split()), filename
    if isinstance(message, str) and " ".join(message.split()) == _GIVEN_UP:
        reason, name, filename, _ = map(str, args)
        return name, " ".join(reason.removeprefix("because ").split()), filename
    return None


def watch_skips(listener: Listener) -> Callable[[], None] | Unavailable:
    """Have `listener` told of every frame that Dynamo skips; return what ends that. `listener` must not raise."""
    log = getattr(convert_frame, "log", None)
    methods = vars(getattr(convert_frame, "CatchErrorsWrapper", object)).values()
    constants = [each.__code__.co_consts for each in methods if isinstance(each, types.FunctionType)]
    if not isinstance(log, logging.Logger) or not any(_MESSAGE in each for each in constants):
        return Unavailable("this torch does not say in a form that depyf knows which frames Dynamo skips")

    def on_line(message: object, args: tuple[object, ...]) -> None:
        told = _told(message, args)
        if told is not None:
            listener(*told)

    return hear(logging.getLogger(log.name), convert_frame.__name__, on_line)
