"""`depyf.profile`: what each line of a compiled program costs."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from depyf.report.index_reader import read_run
from depyf.report.profile.attribution import profile_of
from depyf.report.profile.files import write_profile
from depyf.report.profile.model import Profile
from depyf.report.profile.programs import programs_of
from depyf.report.profile.text import most_expensive
from depyf.torch.adapters.provenance import kernels_are_named, kernels_tell
from depyf.torch.prepare import prepare_debug
from depyf.torch.profile.measurement import Measurement


class profile(contextlib.ContextDecorator):  # noqa: N801 - a context manager is named like a function
    """Measure what each line of a compiled program costs, and write it with the dump to `directory`.

    Steady calls are measured: those that compile something are left out. A step is what lies between two calls of
    `step()`, or, where the program never calls it, between two calls of the compiled code. Compile inside the context:
    kernels that were compiled before have no names in the profile.

    Args:
        directory: directory for the files, made with its parents when the context is entered.
        only: a pattern of shell style; functions whose name, qualified name or file it does not fit are left out.

    Raises:
        DumpDirectoryError: on entering: the directory cannot be written to.
    """

    def __init__(self, directory: str | os.PathLike[str] = "depyf_output", *, only: str = "") -> None:
        self._directory = directory
        self._only = only
        self._stack = contextlib.ExitStack()
        self._measurement = Measurement()
        self.result = Profile()
        """Where the time of a step went; empty until the context ends."""

    def __enter__(self) -> profile:
        self._measurement = Measurement()
        with contextlib.ExitStack() as stack:
            stack.enter_context(kernels_tell())
            stack.enter_context(kernels_are_named())
            session = stack.enter_context(prepare_debug(self._directory, install=False, only=self._only))
            self._measurement.begin()
            self._stack = stack.pop_all()
        self._session = session
        return self

    def __exit__(self, *error: object) -> None:
        recording = self._measurement.end()
        self._stack.close()
        directory = Path(self._session.directory)
        run = read_run(directory)
        self.result = profile_of(recording, programs_of(run), run.names)
        write_profile(directory, self.result, run)
        if sys.stderr is not None and sys.stderr.isatty():
            print(self, file=sys.stderr)

    def step(self) -> None:
        """Say that a step ends here, and the next one begins."""
        self._measurement.step()

    def __str__(self) -> str:
        return "\n".join(most_expensive(self.result))
