"""Run what a program is when it waits for others: send, throw, and close until it is closed."""

from __future__ import annotations

import sys
import types
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Generator
from typing import Any

from tests.quality.fuzz.observed import Trace, Value, shown

Suspended = Generator[object, object, object] | Coroutine[object, object, object]
STEPS = 12


def drive(generator: Suspended, trace: Trace) -> None:
    """Run a generator or coroutine, sending and throwing."""
    value: object = None
    log = trace.log
    try:
        for _ in range(STEPS):
            if trace.chance.random() < 0.2:
                log.append(("yields", shown(generator.throw(KeyError("thrown")))))
            else:
                log.append(("yields", shown(generator.send(value))))
                value = Value(trace, -9)
    except StopIteration as end:
        log.append(("returns", shown(end.value)))
    finally:
        close(generator, log)


def close(generator: Suspended, log: list[object]) -> None:
    """Close a generator, again as long as it goes on instead: nothing is left for the interpreter to close."""
    while True:
        try:
            generator.close()
            log.append("closed")
        except Exception as error:  # noqa: BLE001  (whatever it raises is what is observed)
            log.append(("closing raises", shown(error)))
        if frame_of(generator) is None:
            return


def frame_of(generator: Suspended) -> types.FrameType | None:
    """Return the frame of what has not ended."""
    frame: types.FrameType | None = getattr(generator, "gi_frame", getattr(generator, "cr_frame", None))
    return frame


def drive_async(generator: AsyncGenerator[object, object], trace: Trace) -> None:
    """Run an asynchronous generator, sending and throwing.

    One that goes on whenever it is closed is forgotten in the end: nobody closes it once more, and hears that it does.
    """
    value: object = None
    log = trace.log
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(finalizer=forget)
    try:
        for _ in range(STEPS):
            if trace.chance.random() < 0.2:
                step = generator.athrow(KeyError("thrown"))
            else:
                step, value = generator.asend(value), Value(trace, -9)
            log.append(("yields", shown(awaited(step, trace))))
    except StopAsyncIteration:
        log.append("ends")
    finally:
        close_async(generator, trace)
        sys.set_asyncgen_hooks(*hooks)


def forget(generator: object) -> None:
    """Do nothing with what nobody holds any more."""


def close_async(generator: AsyncGenerator[object, object], trace: Trace) -> None:
    """Close an asynchronous generator, again as long as it goes on; one that says it is running will not end."""
    for _ in range(STEPS):
        if not isinstance(generator, types.AsyncGeneratorType) or generator.ag_frame is None:
            return
        try:
            trace.log.append(("closed", shown(awaited(generator.aclose(), trace))))
        except BaseException as error:  # noqa: BLE001  (likewise; what is closed may let GeneratorExit out)
            trace.log.append(("closing raises", shown(error)))


def awaited(step: Awaitable[object], trace: Trace) -> object:
    """Return what awaiting gives; what is waited for is noted, and sent nothing."""
    waiting: Any = step.__await__()
    for _ in range(STEPS):
        try:
            trace.log.append(("waits", shown(waiting.send(None))))
        except StopIteration as end:
            return end.value
    waiting.throw(KeyError("waited too long"))
    return None
