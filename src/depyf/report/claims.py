"""Which process writes into a directory: one at a time, and those beside it into folders of their own.

A claim is a lock on the directory itself, so that no file tells of it, and ends with the process however that ends. It
is kept after a context, as long as the process runs: what a living process has written is overwritten by no other.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path

from depyf.report.writer import prepared_directory

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # Windows has no such locks: each process writes as if it were alone.
    HAS_LOCKS = False

FOLDER = "process_{}"
"""Folder of a process that is not the first in a directory."""

MOST_HELD = 64
"""Directories that one process keeps to itself; each costs a file descriptor."""


class Claims:
    """The directories that this process has to itself, in the order in which they were last asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[Path, int] = OrderedDict()

    def own_directory(self, directory: str | os.PathLike[str]) -> Path:
        """Return `directory` made ready, or where another process writes there the first free folder in it.

        Raises:
            DumpDirectoryError: it cannot be written to.
        """
        shared = own = prepared_directory(directory)
        number = 1
        with self._lock:
            while not self._take(own):
                number += 1
                own = prepared_directory(shared / FOLDER.format(number))
        return own

    def after_fork(self) -> None:
        """Hold nothing in a forked child: the directories are its parent's."""
        self._lock = threading.Lock()
        held, self._held = self._held, OrderedDict()
        for handle in held.values():
            os.close(handle)

    def _take(self, directory: Path) -> bool:
        """Claim a directory; return whether no other process has it."""
        if not HAS_LOCKS:
            return True
        if directory in self._held and _is_same(self._held[directory], directory):
            self._held.move_to_end(directory)
            return True
        handle = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        except OSError:
            # A file system without locks: as if each process were alone there.
            os.close(handle)
            return True
        former = self._held.pop(directory, None)
        self._held[directory] = handle
        if former is None and len(self._held) > MOST_HELD:
            _, former = self._held.popitem(last=False)
        if former is not None:
            os.close(former)
        return True


def _is_same(handle: int, directory: Path) -> bool:
    """Tell whether a directory is still the one that was opened, and was not removed and made anew."""
    return os.path.samestat(os.fstat(handle), os.stat(directory))


CLAIMS = Claims()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=CLAIMS.after_fork)
