"""Tell what the pipeline does while it does it.

A pass announces each rewrite, then makes it:

    step("block {} joins the test of block {}", arm.index, block.index)
    block.exit = ...

so that a run can be stopped before any rewrite and looked at there. Nobody listens unless `recording` says so; then a
step costs one look at a variable.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

Work = TypeVar("Work", contravariant=True)


class Recorder(Protocol[Work]):
    """Who listens. A method may raise Stopped to end the work on the present code object."""

    def begin(self, work: Work) -> None:
        """Hear that a code object is begun."""

    def attempt(self, work: Work, why: str) -> None:
        """Hear that a code object is begun again in another way, since `why`."""

    def step(self, message: str) -> None:
        """Hear of a rewrite that is about to be made."""

    def after(self, name: str, work: Work) -> None:
        """Hear that the pass of that name has run."""


class Stopped(Exception):
    """The work on a code object is wanted no further."""


_PRESENT: ContextVar[Recorder[Any] | None] = ContextVar("recorder", default=None)


_ALWAYS: list[Recorder[Any]] = []
"""Who listens wherever nobody else does; one at most."""


def present() -> Recorder[Any] | None:
    """Return who listens in this context."""
    recorder = _PRESENT.get()
    return _ALWAYS[0] if recorder is None and _ALWAYS else recorder


def listen_always(recorder: Recorder[Any]) -> None:
    """Let `recorder` hear of every pass, in this process and from now on, where nobody else listens."""
    _ALWAYS[:] = [recorder]


@contextlib.contextmanager
def recording(recorder: Recorder[Any]) -> Iterator[None]:
    """Let `recorder` hear of every step in this context."""
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
