"""Decide which process writes into a directory: one at a time; others use folders of their own.

During a context, the claim is a lock on the directory itself, which the kernel releases when the process ends. After
the context no descriptor stays open. `index.json` names the process that wrote it, and no other process overwrites
the files of a living process.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from depyf.bytecode.patterns import pattern
from depyf.model.writer import INDEX, prepared_directory

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # Windows has no such locks: each process writes as if it were alone.
    HAS_LOCKS = False

FOLDER = "process_{}"
"""The folder of each process after the first in a directory."""

_OWNER = pattern(rb'"process": "(\d+)@(\d+)"')
_HEAD = 4096
"""An index names its process within this many bytes."""


def own_process() -> str:
    """Return a name for this process: its id and, if the system provides it, its start time."""
    return f"{os.getpid()}@{_began(os.getpid())}"


def is_running(process: str) -> bool:
    """Return whether the process that `own_process` named is still running."""
    number, _, began = process.partition("@")
    return _is_alive(int(number), int(began))


def _began(process: int) -> int:
    """Return the start time of a process in system ticks, or 0 if it is unknown."""
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
        pass  # The process belongs to another user.
    return _began(process) == began


class Claims:
    """The directories that this process has claimed, each with its lock and the number of contexts that write there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[Path, tuple[int, int]] = {}

    def own_directory(self, directory: str | os.PathLike[str]) -> Path:
        """Create `directory` and return it. If another process writes there, return the first free folder in it.

        Raises:
            DumpDirectoryError: the directory cannot be written.
        """
        shared = free = prepared_directory(directory)
        number = 1
        with self._lock:
            while not self._take(free):
                number += 1
                free = prepared_directory(shared / FOLDER.format(number))
        return free

    def release(self, directory: Path) -> None:
        """End one claim. The last one closes the directory."""
        with self._lock:
            handle, count = self._held.pop(directory, (None, 0))
            if count > 1 and handle is not None:
                self._held[directory] = handle, count - 1
            elif handle is not None:
                os.close(handle)

    def after_fork(self) -> None:
        """Release all claims in a forked child; the directories belong to its parent."""
        self._lock = threading.Lock()
        held, self._held = self._held, {}
        for handle, _ in held.values():
            os.close(handle)

    def _take(self, directory: Path) -> bool:
        """Claim a directory; return whether that succeeded."""
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
            # This file system has no locks: write as if the process were alone.
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
    """Return whether another living process has written the index of a directory."""
    try:
        with open(directory / INDEX, "rb") as file:
            owner = _OWNER.search(file.read(_HEAD))
    except OSError:
        return False
    return owner is not None and int(owner[1]) != os.getpid() and _is_alive(int(owner[1]), int(owner[2]))


def _is_same(handle: int, directory: Path) -> bool:
    """Return whether a directory is still the one that was opened, and not removed and created again."""
    return os.path.samestat(os.fstat(handle), os.stat(directory))


CLAIMS = Claims()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=CLAIMS.after_fork)
