"""The pauses of `depyf run --debug`: print where to break, and hand over to a debugger.

In a terminal, `pdb` stops in the function that is about to run. Under an editor's debugger, the program waits for the
return key, or stops in that debugger if there is no terminal. Without terminal and debugger it continues.
"""

from __future__ import annotations

import os
import pdb
import sys
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from depyf.torch.adapters.skips import OF_TORCH
from depyf.torch.adapters.unseen import left_alone_with_calls
from depyf.torch.capture.active import HITS

LEFT_OUT = (str(Path(__file__).parents[2]) + os.sep, OF_TORCH, sysconfig.get_path("stdlib") + os.sep)
"""Files in which stepping does not stop. Breakpoints do."""
NO_MORE = "go"
"""The answer of a user who wants no further pause."""


def say_what_is_lacking(unavailable: Mapping[str, str]) -> None:
    """Print why there will be no pause, if torch does not support it."""
    if HITS in unavailable:
        print(f"depyf: no pauses: {unavailable[HITS]}; transformed code runs in its files", file=sys.stderr)


class Pause:
    """Called each time that compiled code is about to run for the first time."""

    def __init__(self, *, has_terminal: bool) -> None:
        """Remember whether this process may read from the terminal. Only one process may."""
        self._has_terminal = has_terminal
        self._is_over = False
        self._stepper: Stepper | None = None

    def __call__(self, places: list[str]) -> None:
        """Print the places to break at, then wait for the user or hand over to a debugger. Does not raise."""
        print("depyf: compiled and about to run:", *places, sep="\n", file=sys.stderr, flush=True)
        if self._is_over:
            return
        terminal = self._has_terminal and _is_terminal(sys.stdin)
        if not has_debugger():
            if terminal:
                self._step()
            else:
                print("depyf: there is no terminal to wait at; continuing", file=sys.stderr, flush=True)
        elif terminal:
            self._wait()
        else:
            sys.breakpointhook()

    def no_more(self) -> None:
        """Do not pause any more."""
        self._is_over = True

    def end(self) -> None:
        """Stop tracing, because only the shutdown of the interpreter follows."""
        if self._stepper is not None:
            sys.settrace(None)

    def _step(self) -> None:
        if self._stepper is None:
            self._stepper = Stepper(self)
            print(
                f"depyf: `break FILE:LINE`, then `continue`; `{NO_MORE}` continues without another pause",
                file=sys.stderr,
                flush=True,
            )
        self._stepper.set_trace(caller())

    def _wait(self) -> None:
        print(
            f"depyf: set your breakpoints now, then press return to continue ({NO_MORE}: without another pause) ",
            file=sys.stderr,
            end="",
            flush=True,
        )
        if sys.stdin.readline().strip() == NO_MORE:
            self.no_more()


class Stepper(pdb.Pdb):
    """A pdb that steps through the user's files and the dump, and steps over depyf and torch."""

    def __init__(self, pause: Pause) -> None:
        super().__init__(stdout=None if _is_terminal(sys.stdout) else sys.stderr)
        self._pause = pause

    @left_alone_with_calls
    def trace_dispatch(self, frame: types.FrameType, event: str, arg: object) -> Any:  # noqa: ANN401 - as pdb has it
        """Trace, although Dynamo inspects every frame: it must compile neither this function nor its callees.

        Args:
            frame: the frame that runs.
            event: Python's name for what happens.
            arg: the value that belongs to the event, for example the one that is returned.
        """
        return super().trace_dispatch(frame, event, arg)

    def stop_here(self, frame: types.FrameType) -> bool:
        """Return whether stepping stops in a frame."""
        return not is_left_out(frame) and super().stop_here(frame)

    def do_go(self, arg: str) -> bool | None:
        """Continue, and do not pause any more."""
        self._pause.no_more()
        return self.do_continue(arg)


def has_debugger() -> bool:
    """Return whether this process runs under an editor's debugger.

    Such a debugger may also have replaced this process's command line. VS Code's and PyCharm's share a core, which
    identifies itself by this name.
    """
    return "pydevd" in sys.modules or sys.breakpointhook is not sys.__breakpointhook__


def caller() -> types.FrameType | None:
    """Return the innermost frame of the user's code, or None."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and is_left_out(frame):
        frame = frame.f_back
    return frame


def is_left_out(frame: types.FrameType) -> bool:
    """Return whether a frame belongs to depyf, torch, the standard library, or generated code outside the program."""
    name = frame.f_code.co_filename
    return name.startswith(LEFT_OUT) or (name.startswith("<") and frame.f_globals.get("__name__") != "__main__")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and bool(stream.isatty())
