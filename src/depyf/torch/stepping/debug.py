"""`debug`: run a program so that a debugger steps through the files of its dump."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from depyf.torch.adapters import seams
from depyf.torch.capture.active import ACTIVE
from depyf.torch.dump.told import TOLD
from depyf.torch.stepping.places import places
from depyf.torch.stepping.stepping import find_steps, running_from_files, transformed_from_files

PAUSE_VARIABLE = "DEPYF_DEBUG_PAUSE"
"""Set to `0` to disable the pause of `debug` calls without a `pause` argument."""


@contextmanager
def debug(pause: bool | None = None) -> Iterator[None]:
    """Print the files and the lines to break at, pause, and run the body on the code in those files.

    Transformed code, resume functions, captured, forward and backward graphs, AOTAutograd's wrappers and Inductor's
    wrappers run from their files here. They do so only if the text of the file is proven to be the running code.
    Outside `debug`, a program never runs from these files. Before torch 2.9, transformed code and resume functions run
    from them only if `prepare_debug(install=True)` installed them.

    Inside `debug`, torch compiles nothing new: a call that matches no entry runs the user's own code. So a debugger's
    callbacks are not compiled, and every compiled call has files.

    Args:
        pause: wait for the return key before the body; by default unless `DEPYF_DEBUG_PAUSE=0` is set.

    Raises:
        RuntimeError: inside `prepare_debug`, whose files are not complete yet.
    """
    if ACTIVE.is_any_entered():
        raise RuntimeError("depyf.debug() inside depyf.prepare_debug(): leave that context first; it has the files")
    running = {directory: captured.running() for directory, captured in TOLD.items()}
    steps = {
        directory: [find_steps(live_compile, directory) for live_compile in live] for directory, live in running.items()
    }
    dropped = {directory: len(captured.live) - len(running[directory]) for directory, captured in TOLD.items()}
    for line in places(steps, dropped):
        print(line)
    if pause if pause is not None else os.environ.get(PAUSE_VARIABLE, "1") != "0":
        _wait()
    with (
        seams.without_compiling(),
        transformed_from_files(live_compile for live in running.values() for live_compile in live),
        running_from_files([stepped for step in steps.values() for stepped in step]),
    ):
        yield


def _wait() -> None:
    try:
        input("depyf: set your breakpoints now, then press return to continue ")
    except EOFError:
        print("depyf: there is no terminal to wait at; continuing")
