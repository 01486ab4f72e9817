"""Torch's own profiler, begun and ended between two steps, and what it saw as plain data."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd import profiler

from depyf.report.profile.events import Event
from depyf.torch.adapters.unseen import left_alone

_LEVEL, _NOTHING = "KINETO_LOG_LEVEL", "99"


@left_alone
def mark(name: str) -> None:
    """Set a mark among the events of the profiler, if it runs."""
    with torch._C._profiler._RecordFunctionFast(name):
        pass


def is_profiled() -> bool:
    """Return whether somebody profiles this thread."""
    return bool(torch.autograd._profiler_enabled())


@contextlib.contextmanager
def _silent_kineto() -> Iterator[None]:
    """Have Kineto, which reads its level when it first begins, write no line of its own to the program's stderr."""
    if _LEVEL in os.environ:
        yield
        return
    os.environ[_LEVEL] = _NOTHING
    try:
        yield
    finally:
        os.environ.pop(_LEVEL, None)


class Window:
    """One stretch of the run that is profiled."""

    def __init__(self) -> None:
        device = "cuda" if torch.cuda.is_available() else None
        self._profile = profiler.profile(use_kineto=True, use_device=device)
        with _silent_kineto():
            self._profile.__enter__()

    def end(self) -> list[Event]:
        """End it and return what was seen."""
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
