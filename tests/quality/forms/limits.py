"""An end for what may never end: a changed rule may loop for ever."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator

LIMIT = 0.4
"""Seconds of a case."""


class Late(BaseException):
    """A case has taken too long; the pipeline does not catch it."""


def seconds() -> float:
    """Return the time that this process has run."""
    return time.process_time()


def _late(signum: int, frame: object) -> None:
    raise Late


@contextlib.contextmanager
def limited(limit: float = LIMIT) -> Iterator[None]:
    """Raise Late when what is done takes too long."""
    signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
