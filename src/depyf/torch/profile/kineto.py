"""Start and stop torch's profiler between two steps, and return its events as plain data."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd import profiler

from depyf.links.profile.events import Event
from depyf.torch.adapters.unseen import left_alone

_LEVEL, _NOTHING = "KINETO_LOG_LEVEL", "99"


@left_alone
def mark(name: str) -> None:
    """Add a mark to the profiler's events, if it runs."""
    with torch._C._profiler._RecordFunctionFast(name):
        pass


def is_profiled() -> bool:
    """Return whether a profiler runs in this thread."""
    return bool(torch.autograd._profiler_enabled())


@contextlib.contextmanager
def _silent_kineto() -> Iterator[None]:
    """Keep Kineto from writing to the program's stderr. Kineto reads its log level when it first begins."""
    if _LEVEL in os.environ:
        yield
        return
    os.environ[_LEVEL] = _NOTHING
    try:
        yield
    finally:
        os.environ.pop(_LEVEL, None)


class Window:
    """A profiled stretch of the run."""

    def __init__(self) -> None:
        device = "cuda" if torch.cuda.is_available() else None
        self._profile = profiler.profile(use_kineto=True, use_device=device)
        with _silent_kineto():
            self._profile.__enter__()

    def end(self) -> list[Event]:
        """End the stretch and return its events."""
        self._profile.__exit__(None, None, None)
        return [_event(each) for each in self._profile.kineto_results.events()]


def _event(event: Any) -> Event:
    start = event.start_ns()
    is_device = event.device_type() != torch.autograd.DeviceType.CPU
    return Event(
        event.name(),
        start,
        start + event.duration_ns(),
        event.device_resource_id() if is_device else event.start_thread_id(),
        is_device,
        event.correlation_id(),
        event.linked_correlation_id(),
        event.sequence_nr(),
    )
