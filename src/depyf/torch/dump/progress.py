"""Write the index of a running program after compiles, so that a killed program leaves one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from depyf.model.run import Session
from depyf.model.running_compile import LOG

if TYPE_CHECKING:
    # Imported on first use, so that a program without a log does not pay for it.
    from depyf.model.running_log import RunningLog

SHARE = 0.02
"""The largest fraction of the program's time that writing may take. The next index waits for that."""


class Progress:
    """Calls `write` soon after a change, but seldom enough to cost little."""

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self.is_due = False
        """Whether there is a change that is not written yet."""
        self._spent = 0.0
        # Count the earlier time of the program, for example to import torch, as its time.
        self._began = time.monotonic() - time.process_time()

    def changed(self) -> None:
        """Record that there is a change."""
        self.is_due = True
        self.offer()

    def offer(self) -> None:
        """Write, if there is a change and writing has taken only a small part of the time."""
        if not self.is_due:
            return
        now = time.monotonic()
        if self._spent > SHARE * (now - self._began):
            return
        self.is_due = False
        self._write()
        self._spent += time.monotonic() - now


def running_log(directory: Path, session: Session, *, wanted: bool) -> RunningLog | None:
    """Remove the log that an earlier context has left, and begin one where it is wanted.

    Args:
        directory: the dump.
        session: the run that the log records.
        wanted: whether the context keeps a log.
    """
    if not wanted and not (directory / LOG).exists():
        return None
    from depyf.model.running_log import RunningLog, remove_log

    remove_log(directory)
    return RunningLog(directory, session) if wanted else None
