"""The clock of a process from its start: what its imports took, for the timeline of a cold start."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

PYTHON = "Python's library"
"""The name of the modules that come with Python."""
_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
"""The file name of the import system's frames, which CPython leaves out of the tracebacks of failing imports."""


def processor_time() -> int:
    """Return the nanoseconds that processors worked for this process and for its children that have ended."""
    try:
        import resource
    except ImportError:  # Windows
        return time.process_time_ns()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + int(1e9 * (children.ru_utime + children.ru_stime))


class StartClock:
    """Measures the imports of the main thread, exclusive by package, from when it begins.

    Imports inside a compile belong to the compile: `is_elsewhere` tells that one runs. `now` returns nanoseconds.
    """

    def __init__(self, now: Callable[[], int] = time.perf_counter_ns) -> None:
        self._now = now
        self.began = now()
        self.process = os.getpid()
        self.is_elsewhere: Callable[[], bool] = bool
        self.packages: dict[str, int] = {}
        self._thread = threading.get_ident()
        self._stack: list[str] = []
        self._since = 0
        self._original: Callable[[str, Any], Any] | None = None
        self._made: Callable[[str, Any], Any] | None = None

    def begin(self) -> None:
        """Begin to measure: CPython calls `_find_and_load` for each module that is not imported yet."""
        system: Any = sys.modules["_frozen_importlib"]
        self._original = system._find_and_load
        system._find_and_load = self._made = _timed(self, system._find_and_load)

    def end(self) -> None:
        """Stop measuring. A function that the program has put in its place stays."""
        system: Any = sys.modules["_frozen_importlib"]
        if self._original is not None and system._find_and_load is self._made:
            system._find_and_load = self._original
        self._original = None

    def enter(self, name: str) -> bool:
        """Begin the import of a module; return whether it is measured, and `leave` must follow."""
        if threading.get_ident() != self._thread or (not self._stack and self.is_elsewhere()):
            return False
        self._charge()
        package = name.partition(".")[0]
        self._stack.append(PYTHON if package in sys.stdlib_module_names else package)
        return True

    def leave(self) -> None:
        """End the import of a module."""
        self._charge()
        self._stack.pop()

    def _charge(self) -> None:
        now = self._now()
        if self._stack:
            self.packages[self._stack[-1]] = self.packages.get(self._stack[-1], 0) + now - self._since
        self._since = now

    def before(self) -> int | None:
        """Return the nanoseconds from the start of the process to `began`, or None if the system has no such number.

        Linux counts the start of a process in ticks since the boot (proc(5), field 22 of `/proc/self/stat`).
        """
        if not hasattr(time, "CLOCK_BOOTTIME"):
            return None
        try:
            with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            ticks = int(fields[19])
        except (OSError, ValueError, IndexError):
            return None
        age = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - ticks * 10**9 // os.sysconf("SC_CLK_TCK")
        return max(age - (self._now() - self.began), 0)


def _timed(clock: StartClock, original: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """Return CPython's function with a clock around it. Its frame counts as one of the import system in tracebacks."""

    def _find_and_load(name: str, import_: Any) -> Any:  # noqa: ANN401 - the import system's own values
        if not clock.enter(name):
            return original(name, import_)
        try:
            return original(name, import_)
        finally:
            clock.leave()

    _find_and_load.__code__ = _find_and_load.__code__.replace(co_filename=_IMPORT_SYSTEM)
    return _find_and_load
