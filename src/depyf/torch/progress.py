"""The index of a run that goes on: written anew after compiles, so that a program that is killed leaves one."""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 0.02
"""Part of the time that may go into writing: the next index waits until it is no more than that."""


class Progress:
    """Calls `write` soon after something has changed, and seldom enough to cost little."""

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self._is_due = False
        self._not_before = 0.0

    def changed(self) -> None:
        """Note that there is something new to tell."""
        self._is_due = True
        self.offer()

    def offer(self) -> None:
        """Write, if there is something new and the last time is long enough ago."""
        if not self._is_due:
            return
        began = time.monotonic()
        if began < self._not_before:
            return
        self._is_due = False
        self._write()
        ended = time.monotonic()
        self._not_before = ended + (ended - began) / SHARE
