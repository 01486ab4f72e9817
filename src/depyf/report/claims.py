"""Which process writes into a directory: one at a time, and those beside it into folders of their own.

While a context is entered, a claim is a lock on the directory itself, which ends with the process however that ends.
After it no descriptor stays open: `index.json` names the process that wrote it, and what a living process has written
is overwritten by no other.
"""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

from depyf.report.writer import INDEX, prepared_directory

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # Windows has no such locks: each process writes as if it were alone.
    HAS_LOCKS = False

FOLDER = "process_{}"
"""Folder of a process that is not the first in a directory."""

_OWNER = re.compile(rb'"process": "(\d+)@(\d+)"')
_HEAD = 4096
"""Bytes at the beginning of an index in which it names its process."""


def own_process() -> str:
    """Return what tells this process from others: its id and, where the system says it, the time at which it began."""
    return f"{os.getpid()}@{_began(os.getpid())}"


def is_running(process: str) -> bool:
    """Return whether a process lives that `own_process` has named so."""
    number, _, began = process.partition("@")
    return _is_alive(int(number), int(began))


def _began(process: int) -> int:
    """Return when a process began, in the system's ticks, 0 where it does not say."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        return int(status.rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0


def _is_alive(process: int, began: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # It is another user's.
    return _began(process) == began


class Claims:
    """The directories that this process has to itself, each with its lock and how many contexts write there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[Path, tuple[int, int]] = {}

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

    def release(self, directory: Path) -> None:
        """End one claim: with the last one, the directory is not open any more."""
        with self._lock:
            handle, count = self._held.pop(directory, (None, 0))
            if count > 1 and handle is not None:
                self._held[directory] = handle, count - 1
            elif handle is not None:
                os.close(handle)

    def after_fork(self) -> None:
        """Hold nothing in a forked child: the directories are its parent's."""
        self._lock = threading.Lock()
        held, self._held = self._held, {}
        for handle, _ in held.values():
            os.close(handle)

    def _take(self, directory: Path) -> bool:
        """Claim a directory; return whether no other process has it."""
        if not HAS_LOCKS:
            return True
        former, count = self._held.get(directory, (None, 0))
        if former is not None and _is_same(former, directory):
            self._held[directory] = former, count + 1
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
        if _is_of_another(directory):
            os.close(handle)
            return False
        if former is not None:
            os.close(former)
        self._held[directory] = handle, count + 1
        return True


def _is_of_another(directory: Path) -> bool:
    """Return whether another process that lives has written the index of a directory."""
    try:
        with open(directory / INDEX, "rb") as file:
            found = _OWNER.search(file.read(_HEAD))
    except OSError:
        return False
    return found is not None and int(found[1]) != os.getpid() and _is_alive(int(found[1]), int(found[2]))


def _is_same(handle: int, directory: Path) -> bool:
    """Return whether a directory is still the one that was opened, and was not removed and made anew."""
    return os.path.samestat(os.fstat(handle), os.stat(directory))


CLAIMS = Claims()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=CLAIMS.after_fork)
