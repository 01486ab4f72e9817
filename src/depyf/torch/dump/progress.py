"""The index of a run that goes on: written anew after compiles, so that a program that is killed leaves one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from depyf.report.model import Session
from depyf.report.running_compile import LOG

if TYPE_CHECKING:
    # Loaded when it is first needed: a program that keeps no log pays for none.
    from depyf.report.running_log import RunningLog

SHARE = 0.02
"""Part of the program's time that may go into writing: the next index waits until no more than that has."""


class Progress:
    """Calls `write` soon after something has changed, and seldom enough to cost little."""

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self.is_due = False
        """Whether there is something new that is not written yet."""
        self._spent = 0.0
        # What the program did before, such as to import torch, counts as its time.
        self._began = time.monotonic() - time.process_time()

    def changed(self) -> None:
        """Note that there is something new to tell."""
        self.is_due = True
        self.offer()

    def offer(self) -> None:
        """Write, if there is something new and the writing so far was a small part of the time."""
        if not self.is_due:
            return
        now = time.monotonic()
        if self._spent > SHARE * (now - self._began):
            return
        self.is_due = False
        self._write()
        self._spent += time.monotonic() - now


def running_log(directory: Path, session: Session, *, wanted: bool) -> RunningLog | None:
    """Remove the log that an earlier context has left, and begin one where it is wanted."""
    if not wanted and not (directory / LOG).exists():
        return None
    from depyf.report.running_log import RunningLog, remove_log

    remove_log(directory)
    return RunningLog(directory, session) if wanted else None
