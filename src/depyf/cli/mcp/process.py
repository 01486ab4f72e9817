"""Run a command without a shell, with a limit of time, a bounded memory of its output, and progress."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from depyf.bytecode.records import dataclass

MOST_LINES = 60
"""Lines of output that are kept, the last ones."""
MOST_CHARACTERS = 400
"""Characters of a line that are kept."""
INTERVAL = 1.0
"""Seconds between two reports of progress."""
GRACE = 3.0
"""Seconds that a process has to end after it was asked to."""

Tell = Callable[[float, str], Awaitable[None]]
"""Receives the seconds so far and the last line of output."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended: its exit code, None if it was ended at the limit, and the last lines of its output."""

    code: int | None
    lines: tuple[str, ...]
    seconds: float


async def run(command: Sequence[str], directory: Path, limit: float, tell: Tell) -> Ended:
    """Run a command to its end or to the limit, in seconds. If the caller is cancelled, the process is ended too.

    Args:
        command: the command and its arguments.
        directory: its working directory.
        limit: the time limit in seconds.
        tell: receives the last line of output and the elapsed seconds from time to time.

    Raises:
        OSError: it cannot be started.
    """
    began = time.monotonic()
    lines: deque[str] = deque(maxlen=MOST_LINES)
    process = await anyio.open_process(
        command,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    is_late = True
    try:
        with anyio.move_on_after(limit):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_report, began, lines, tell)
                assert process.stdout is not None
                await _read(process.stdout, lines)
                await process.wait()
                tasks.cancel_scope.cancel()
            is_late = False
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
            await process.aclose()
    return Ended(None if is_late else process.returncode, tuple(lines), time.monotonic() - began)


async def _read(stream: ByteReceiveStream, lines: deque[str]) -> None:
    """Keep the last lines of a stream, and the first characters of each. A line may have gigabytes."""
    rest = b""
    try:
        while True:
            rest += await stream.receive()
            *whole, rest = rest.split(b"\n")
            lines.extend(_words(line) for line in whole)
            rest = rest[:MOST_CHARACTERS]
    except anyio.EndOfStream:
        if rest:
            lines.append(_words(rest))


def _words(line: bytes) -> str:
    return line[:MOST_CHARACTERS].decode("utf-8", "replace").rstrip("\r")


async def _report(began: float, lines: deque[str], tell: Tell) -> None:
    while True:
        await anyio.sleep(INTERVAL)
        await tell(time.monotonic() - began, lines[-1] if lines else "")


async def _end(process: Process) -> None:
    """End a process and its children, first by asking."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if process.returncode is not None:
            return
        _send(process, number)
        with anyio.move_on_after(GRACE):
            await process.wait()


def _send(process: Process, number: int) -> None:
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(signal.Signals(number))
    except ProcessLookupError:
        pass  # It has ended by itself.
