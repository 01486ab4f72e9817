"""Start and stop torch's profiler between two steps, and return its events as plain data."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
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


def wait_for_device() -> None:
    """Wait until the device has done its work, unless a CUDA graph is being recorded, which forbids that."""
    if torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing():
        torch.cuda.synchronize()


class Window:
    """A profiled stretch of the run."""

    def __init__(self) -> None:
        # The profiler would initialize CUDA in a program that does not use it, which could then no longer fork.
        device = "cuda" if torch.cuda.is_initialized() else None
        self._profile = profiler.profile(use_kineto=True, use_device=device)
        with _silent_kineto():
            self._profile.__enter__()

    def end(self) -> list[Event]:
        """End the stretch and return its events."""
        self._profile.__exit__(None, None, None)
        return events_of(self._profile.kineto_results.events())


_OF_KINETO = frozenset(
    (
        *("Activity Buffer Request", "Buffer Flush", "Command Buffer Full", "Instrumentation", "Resource"),
        *("Lazy Function Loading", "Runtime Triggered Module Loading", "Unrecognized", "[memory]", "[OutOfMemory]"),
    )
)
"""Events of Kineto's about its own work. They have no thread of the program."""


def events_of(events: Iterable[Any]) -> list[Event]:
    """Return the events of operations and kernels as plain data.

    Kineto repeats a range that the program names (`record_function`) on the device, from the first to the last of its
    kernels. Such a range is no work of the device.
    """
    return [_event(event) for event in events if event.name() not in _OF_KINETO and not _is_range_on_device(event)]


def _is_range_on_device(event: Any) -> bool:
    is_range = getattr(event, "is_user_annotation", None)
    return is_range is not None and is_range() and event.device_type() != torch.autograd.DeviceType.CPU


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
