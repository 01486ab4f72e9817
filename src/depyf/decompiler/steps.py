"""Announce the rewrites of the pipeline as they happen.

A pass announces each rewrite, then makes it:

    step("block {} joins the test of block {}", arm.index, block.index)
    block.exit = ...

So a run can be stopped and examined before any rewrite. Nobody listens outside `recording`; then a step only reads one
variable.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

Work = TypeVar("Work", contravariant=True)


class Recorder(Protocol[Work]):
    """A listener. A method may raise Stopped to end the work on the present code object."""

    def begin(self, work: Work) -> None:
        """Note that a code object is begun."""

    def attempt(self, work: Work, why: str) -> None:
        """Note that a code object is begun again in another way, because of `why`."""

    def step(self, message: str) -> None:
        """Note the rewrite that will be made next."""

    def after(self, name: str, work: Work) -> None:
        """Note that the pass of that name has run."""


class Stopped(Exception):
    """The work on a code object is not wanted any further."""


_PRESENT: ContextVar[Recorder[Any] | None] = ContextVar("recorder", default=None)


_ALWAYS: list[Recorder[Any]] = []
"""The listener for contexts without their own; one at most."""


def present() -> Recorder[Any] | None:
    """Return the listener of this context, or None."""
    recorder = _PRESENT.get()
    return _ALWAYS[0] if recorder is None and _ALWAYS else recorder


def listen_always(recorder: Recorder[Any]) -> None:
    """Send every pass to `recorder` from now on, in contexts of this process without their own listener."""
    _ALWAYS[:] = [recorder]


@contextlib.contextmanager
def recording(recorder: Recorder[Any]) -> Iterator[None]:
    """Send every step in this context to `recorder`."""
    token = _PRESENT.set(recorder)
    try:
        yield
    finally:
        _PRESENT.reset(token)


def step(message: str, *parts: object) -> None:
    """Announce a rewrite; `message` is formatted with `parts` only if somebody listens."""
    recorder = _PRESENT.get()
    if recorder is not None:
        recorder.step(message.format(*parts))
