"""`depyf.profile`: what each line of a compiled program costs."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from depyf.report.index_reader import read_run
from depyf.report.profile.attribution import profile_of
from depyf.report.profile.events import Recording
from depyf.report.profile.files import write_profile
from depyf.report.profile.programs import programs_of
from depyf.report.profile.text import most_expensive
from depyf.torch.adapters.provenance import kernels_are_named, kernels_tell
from depyf.torch.capture.prepare import prepare_debug
from depyf.torch.profile.measurement import Measurement


class Profiling:
    """The measuring of one process beside its capture: it begins after the capture does, and ends before."""

    def __init__(self, *, against_eager: bool = False) -> None:
        self.measurement = Measurement(against_eager=against_eager)
        self._settings = contextlib.ExitStack()

    def begin(self) -> None:
        """Have kernels tell their names, and begin to measure."""
        with contextlib.ExitStack() as settings:
            settings.enter_context(kernels_tell())
            settings.enter_context(kernels_are_named())
            self.measurement.begin()
            self._settings = settings.pop_all()

    def end(self) -> None:
        """Measure no more, and put the settings back."""
        self.measurement.end()
        self._settings.close()

    def write(self, directory: Path) -> dict[str, Any]:
        """Write the profile beside the dump of the capture, which has ended; return what `profile.json` holds."""
        run = read_run(directory)
        return write_profile(directory, profile_of(self.measurement.recording, programs_of(run), run.names), run)


class profile(contextlib.ContextDecorator):  # noqa: N801 - a context manager is named like a function
    """Measure what each line of a compiled program costs, and write it with the dump to `directory`.

    Steady calls are measured: those that compile something are left out. A step is what lies between two calls of
    `step()`, or, where the program never calls it, between two calls of the compiled code. Compile inside the context:
    kernels that were compiled before have no names in the profile.

    Args:
        directory: directory for the files, made with its parents when the context is entered.
        against_eager: run some steps uncompiled at the end, for the time of each line there. These steps compute what
            eager torch does, which may differ in the last bits.
        only: a pattern of shell style; functions whose name, qualified name or file it does not fit are left out.

    Raises:
        DumpDirectoryError: on entering: the directory cannot be written to.

    Leaving never raises: an error inside depyf is a warning.
    """

    def __init__(
        self, directory: str | os.PathLike[str] = "depyf_output", *, against_eager: bool = False, only: str = ""
    ) -> None:
        self._capture = prepare_debug(directory, install=False, only=only)
        self._against_eager = against_eager
        self._profiling = Profiling(against_eager=against_eager)
        self._directory = Path()
        self.result: dict[str, Any] = {}
        """What `profile.json` holds; empty until the context ends."""

    def __enter__(self) -> profile:
        self._profiling = Profiling(against_eager=self._against_eager)
        session = self._capture.__enter__()
        try:
            self._profiling.begin()
        except BaseException:
            self._capture.__exit__(None, None, None)
            raise
        self._directory = Path(session.directory)
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._profiling.end()
        finally:
            self._capture.__exit__(*error)
        try:
            self.result = self._profiling.write(self._directory)
        except Exception as failure:  # noqa: BLE001 - leaving never raises into the user's program
            warnings.warn(f"depyf wrote no profile: {type(failure).__name__}: {failure}", RuntimeWarning, stacklevel=2)
            return
        if sys.stderr is not None and sys.stderr.isatty():
            print(self, file=sys.stderr)

    def step(self) -> None:
        """Say that a step ends here, and the next one begins."""
        self._profiling.measurement.step()

    @property
    def recording(self) -> Recording:
        """Return what the profiler saw."""
        return self._profiling.measurement.recording

    def __str__(self) -> str:
        return "\n".join(most_expensive(self.result)) if self.result else "depyf: the profile is not ended yet"
