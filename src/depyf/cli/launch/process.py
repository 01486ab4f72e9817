"""Start a program under this Python with the capture switched on, and exit as it exits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from depyf.cli.launch.settings import Settings, environment

FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
"""Signals that the launcher forwards to the program."""
FROM_KEYBOARD = ("SIGINT", "SIGQUIT")
"""Signals that the terminal sends to both processes. The program decides how to react."""


def run(arguments: Sequence[str], settings: Settings, meanwhile: Callable[[], None]) -> int:
    """Run `python arguments...` to its end; return its exit status, negative for a signal.

    The program has this process's standard streams, working directory and interpreter flags.

    Args:
        arguments: the arguments of the interpreter: a script or `-m` and a module, and the program's own.
        settings: the options of `depyf run`, which reach the program by its environment.
        meanwhile: is called while the program runs.
    """
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    kept: dict[int, object] = {}
    started: list[subprocess.Popen[bytes]] = []

    def forward(number: int, frame: object) -> None:
        for process in started:
            process.send_signal(number)

    # A child does not inherit a handler function. It does inherit an ignored signal, as it should.
    for names, handler in ((FROM_KEYBOARD, _leave_it), (FORWARDED, forward)):
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                kept[number] = signal.signal(number, handler)
    try:
        started.append(subprocess.Popen([sys.executable, *flags, *arguments], env=environment(settings)))
        meanwhile()
        return started[0].wait()
    finally:
        for number, previous in kept.items():
            signal.signal(number, previous)  # type: ignore[arg-type]


def _leave_it(number: int, frame: object) -> None:
    """Ignore a signal that the program receives as well."""


def end_like(status: int) -> None:
    """End this process like a program with that exit status: by the same signal, if there was one."""
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
