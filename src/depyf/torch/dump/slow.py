"""The Python stack of a compile that takes longer than a limit, written during the compile.

Python's own watchdog writes it. It needs neither a Python thread nor the interpreter lock, which a compiler that hangs
in C++ holds.
"""

from __future__ import annotations

import faulthandler
import threading
from collections.abc import Hashable
from io import TextIOWrapper
from pathlib import Path


class SlowCompiles:
    """Watches the compiles of a process. Nested compiles count as parts of the outer one."""

    def __init__(self, path: Path, limit: float) -> None:
        self._path = path
        self._limit = limit
        self._open: set[Hashable] = set()
        self._is_armed = False
        self._lock = threading.Lock()
        self._file: TextIOWrapper | None = None

    def begin(self, compile_id: Hashable) -> None:
        """Begin to watch a compile. Another attempt is a part of the first."""
        if not self._limit:
            return
        with self._lock:
            self._open.add(compile_id)
            if len(self._open) > 1 or self._is_armed:
                return
            self._is_armed = True
            if self._file is None:
                self._file = open(self._path, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the context
            faulthandler.dump_traceback_later(self._limit, file=self._file)

    def end(self, compile_id: Hashable) -> None:
        """Stop watching a compile."""
        with self._lock:
            self._open.discard(compile_id)
            if not self._open and self._is_armed:
                self._is_armed = False
                faulthandler.cancel_dump_traceback_later()

    def close(self) -> None:
        """Stop watching. The file stays if a compile was slow."""
        with self._lock:
            if self._file is not None:
                faulthandler.cancel_dump_traceback_later()
                self._file.close()
                if not self._path.stat().st_size:
                    self._path.unlink()
                self._file = None
