"""Errors inside depyf: a line in the log and a file in the dump, never an exception in the user's program."""

from __future__ import annotations

import logging
import os
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from depyf.model.run import Problem
from depyf.model.writer import write_whole

LOG = logging.getLogger("depyf")
FILE = "depyf_problems.txt"
MOST_KEPT = 100
"""The most problems that are kept in full, because an error in a hook may occur often."""


class Problems:
    """Collects the errors of one context. The first is reported at once, all of them in a file."""

    def __init__(self, directory: Path) -> None:
        self.found: list[Problem] = []
        self.count = 0
        self._directory = directory
        self._lock = threading.Lock()

    @contextmanager
    def contained(self, where: str) -> Iterator[None]:
        """Run a block whose errors must not reach the user's program; `where` describes the block."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's program goes on
            self.add(where, error)

    def add(self, where: str, error: BaseException) -> None:
        """Record an error. The first one also logs a warning."""
        with self._lock:
            self.count += 1
            if self.count > MOST_KEPT:
                return
            message = f"{type(error).__name__}: {error}"
            details = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            self.found.append(Problem(where, message, details))
            first = self.count == 1
        if first:
            LOG.warning(
                "depyf: %s failed (%s). Your program continues as without depyf; the details are in %s.",
                where,
                message,
                os.path.join(self._directory, FILE),
            )

    def write(self) -> None:
        """Write the report file, if there is anything to report. If that fails, log the report itself."""
        if not self.found:
            return
        text = "\n".join(f"{problem.where}: {problem.message}\n\n{problem.details}" for problem in self.found)
        head = f"{self.count} error(s) inside depyf. Please attach this file to a bug report.\n\n"
        try:
            write_whole(self._directory / FILE, head + text)
        except OSError as error:
            LOG.warning("depyf: %s cannot be written either (%s):\n%s", FILE, error, text)


_SAID: set[str] = set()


def tell_once(warning: str) -> None:
    """Give a warning, once in a process."""
    if warning and warning not in _SAID:
        _SAID.add(warning)
        warnings.warn(warning, RuntimeWarning, stacklevel=3)
