"""`watch`: report each recompile of a running program, and raise an alarm for a compile after the warm-up."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any

from depyf.torch.alarms.event import CompileEvent, Counts, Kind
from depyf.torch.alarms.exports import Export, opentelemetry, prometheus
from depyf.torch.alarms.hearing import Hearing

LOG = logging.getLogger("depyf.watch")
MOST_EVENTS = 1000
"""The most events that a watch keeps, newest last."""


class watch:  # noqa: N801 - a context manager is named like a function
    """Report the recompiles of a running program. Calls of compiled code cost nothing more.

    Use it as a context manager, or call `start` and `stop`. Each recompile becomes a line of the logger: a warning if
    it is an alarm, else an info. A first compile is an alarm too, if it happens after the warm-up.

        with depyf.watch(on_recompile=print, warm_up=60):
            serve()

    Args:
        on_recompile: receives each recompile and each alarm, in the thread that compiles. Its errors are logged.
        warm_up: the length of the warm-up in seconds; or a function that returns True when the warm-up is over, which
            is called at each compile; None: it lasts until `end_warm_up` is called.
        logger: receives a line for each recompile and each alarm; None: the logger `depyf.watch`.
        prometheus: a registry of `prometheus_client`, or True for its default registry.
        opentelemetry: a meter of OpenTelemetry, or True for the meter `depyf`.

    Raises:
        TypeError: `warm_up` is neither a number, nor a function, nor None.
        ValueError: `warm_up` is negative.
        ImportError: the library of an export is missing.
        RuntimeError: on start: this torch (before 2.4) does not report its compiles.
    """

    def __init__(
        self,
        on_recompile: Callable[[CompileEvent], object] | None = None,
        *,
        warm_up: float | Callable[[], bool] | None = None,
        logger: logging.Logger | None = None,
        prometheus: Any = None,
        opentelemetry: Any = None,
    ) -> None:
        _check_warm_up(warm_up)
        self.events: deque[CompileEvent] = deque(maxlen=MOST_EVENTS)
        """The last events, newest last."""
        self.counts = Counts()
        """The totals since the first start."""
        self._on_recompile = on_recompile
        self._warm_up = warm_up
        self._log = LOG if logger is None else logger
        self._exports = _exports(prometheus, opentelemetry)
        self._is_warm = False
        self._began = 0.0
        self._hooks: ExitStack | None = None
        self._lock = threading.RLock()

    def start(self) -> None:
        """Begin to report. A second start without a stop does nothing.

        Raises:
            RuntimeError: this torch (before 2.4) does not report its compiles.
        """
        with self._lock:
            if self._hooks is None:
                self._began = time.monotonic()
                self._hooks = Hearing(self._report, self._add_seconds, self._failed).begin()

    def stop(self) -> None:
        """End the reports. The totals stay."""
        with self._lock:
            hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.close()

    def end_warm_up(self) -> None:
        """End the warm-up: from now on each compile is an alarm."""
        self._is_warm = True

    @property
    def is_warm(self) -> bool:
        """Return whether the warm-up is over."""
        if not self._is_warm and self._warm_up is not None and self._hooks is not None:
            is_over = self._warm_up() if callable(self._warm_up) else time.monotonic() - self._began >= self._warm_up
            self._is_warm = bool(is_over)
        return self._is_warm

    def __enter__(self) -> watch:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _report(self, event: CompileEvent) -> None:
        event = replace(event, is_alarm=self.is_warm)
        with self._lock:
            self.counts = self.counts.plus(event)
            self.events.append(event)
        for export in self._exports:
            export(event)
        if event.is_alarm or event.kind is not Kind.FIRST:
            self._log.log(logging.WARNING if event.is_alarm else logging.INFO, "%s", event)
            if self._on_recompile is not None:
                self._on_recompile(event)

    def _add_seconds(self, seconds: float) -> None:
        with self._lock:
            self.counts = self.counts.plus_seconds(seconds)

    def _failed(self, error: Exception) -> None:
        self._log.warning("depyf.watch: the report of a compile failed; the program continues", exc_info=error)


def _check_warm_up(warm_up: object) -> None:
    if warm_up is None or callable(warm_up):
        return
    if isinstance(warm_up, bool) or not isinstance(warm_up, (int, float)):
        raise TypeError(f"warm_up must be seconds, a function or None, not {warm_up!r}")
    if warm_up < 0:
        raise ValueError(f"warm_up must not be negative: {warm_up!r}")


def _exports(registry: Any, meter: Any) -> tuple[Export, ...]:
    exports: list[Export] = []
    if registry is not None and registry is not False:
        exports.append(prometheus(None if registry is True else registry))
    if meter is not None and meter is not False:
        exports.append(opentelemetry(None if meter is True else meter))
    return tuple(exports)
