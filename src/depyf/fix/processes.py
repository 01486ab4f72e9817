"""Run the plan of a try in a process of its own: a new one, or a child of the nursery, which has imported torch."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping

from depyf.fix.nursery import ENDED, STARTED
from depyf.fix.plan import Plan

ENDED_LATE = "it did not end in time"
STARTS_WITHIN = 60.0
"""The most seconds until the nursery has forked a child. It first imports torch."""


def run_afresh(
    plan: Plan, seconds: float, child: str = "depyf.fix.child", environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a plan in a new process.

    Args:
        plan: the task of the process.
        seconds: the most seconds of the run.
        child: the module that the process runs.
        environment: variables that are set beside those of this process.

    Returns:
        The exit code, and why the process was ended if it was.
    """
    (_, _), (out, _), (err, _) = plan.streams
    command = [sys.executable, "-m", child, str(plan.write())]
    with open(out, "wb") as output, open(err, "wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=plan.directory,
            env=None if environment is None else {**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        try:
            return process.wait(timeout=seconds), ""
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL, ENDED_LATE
        finally:
            # Ctrl-C, a limit, and processes that the program has left behind.
            _end_session(process.pid)
            process.wait()


class Nursery:
    """Forks a child for each plan. `is_alive` is False when it cannot do so any more.

    modules: the names of modules to import first, beside torch.
    """

    def __init__(self, *modules: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "depyf.fix.nursery", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.is_alive = True
        self._rest = b""

    def run(self, plan: Plan, seconds: float) -> tuple[int, str] | None:
        """Run a plan as `run_afresh` does, or return None if the nursery is dead."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{plan.write()}\n".encode())
            self._process.stdin.flush()
        except OSError:
            self.is_alive = False
            return None
        pid = self._answer(STARTED, STARTS_WITHIN)
        if pid is None:
            self.end()
            return None
        try:
            code = self._answer(ENDED, seconds)
            if code is not None:
                return code, ""
            _end_session(pid)
            self._answer(ENDED, STARTS_WITHIN)
            return -signal.SIGKILL, ENDED_LATE
        finally:
            _end_session(pid)

    def _answer(self, word: str, seconds: float) -> int | None:
        """Return the number in the next line of the nursery; None if there is none in time."""
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        number = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            ready, _, _ = select.select([number], [], [], max(0.0, until - time.monotonic()))
            more = os.read(number, 4096) if ready else b""
            if not more:
                return None
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        said, _, value = line.decode().partition(" ")
        return int(value) if said == word else None

    def end(self) -> None:
        """End the nursery."""
        self.is_alive = False
        _end_session(self._process.pid)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()


def _end_session(pid: int) -> None:
    """Kill all processes of the session that a child leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
