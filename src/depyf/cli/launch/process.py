"""Start a program under this Python with capture switched on, and end as it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from depyf.cli.launch.settings import Settings, environment

FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
"""Signals to the launcher that are meant for the program."""
FROM_KEYBOARD = ("SIGINT", "SIGQUIT")
"""Signals that the terminal sends to both by itself; the program decides what they do."""


def run(arguments: Sequence[str], settings: Settings, meanwhile: Callable[[], None]) -> int:
    """Run `python arguments...` to its end; return its exit status, negative where a signal ended it.

    `meanwhile` is called once it runs.

    The program has this process's standard streams, working directory and flags of the interpreter.
    """
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    kept: dict[int, object] = {}
    started: list[subprocess.Popen[bytes]] = []

    def forward(number: int, frame: object) -> None:
        for process in started:
            process.send_signal(number)

    # A function as handler is no handler of the child's; what is ignored stays ignored there too, as it has to.
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
    """Do nothing about a signal that the program has got as well."""


def end_like(status: int) -> None:
    """End this process as a program with that exit status ended: by the same signal, if it was one."""
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
