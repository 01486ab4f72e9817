"""`depyf.profile`: measure the cost of each line of a compiled program."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from depyf.links.profile.attribution import profile_of
from depyf.links.profile.events import Recording
from depyf.links.profile.files import write_profile
from depyf.links.profile.programs import programs_of
from depyf.links.profile.text import most_expensive
from depyf.model.index_reader import read_run
from depyf.torch.adapters.provenance import kernels_are_named, kernels_tell
from depyf.torch.capture.prepare import prepare_debug
from depyf.torch.profile.measurement import Measurement


class Profiling:
    """Measures one process beside its capture: it begins after the capture and ends before it."""

    def __init__(self, *, against_eager: bool = False) -> None:
        self.measurement = Measurement(against_eager=against_eager)
        self._settings = contextlib.ExitStack()

    def begin(self) -> None:
        """Make kernels report their names, and begin to measure."""
        with contextlib.ExitStack() as settings:
            settings.enter_context(kernels_tell())
            settings.enter_context(kernels_are_named())
            self.measurement.begin()
            self._settings = settings.pop_all()

    def end(self) -> None:
        """Stop measuring, and restore the settings."""
        self.measurement.end()
        self._settings.close()

    def write(self, directory: Path) -> dict[str, Any]:
        """Write the profile beside the dump of the ended capture; return the contents of `profile.json`."""
        run = read_run(directory)
        return write_profile(directory, profile_of(self.measurement.recording, programs_of(run), run.names), run)


class profile(contextlib.ContextDecorator):  # noqa: N801 - a context manager is named like a function
    """Measure the cost of each line of a compiled program, and write it with the dump to `directory`.

    Only steady calls are measured, that is, calls that compile nothing. A step ends when the program calls `step()`. If
    the program never does, a step lasts from one call of the compiled code to the next. Compile inside the context:
    kernels that were compiled before have no names in the profile.

    Args:
        directory: the directory for the files, made with its parents when the context is entered.
        against_eager: run some steps uncompiled at the end, to time each line there. Eager results may differ from
            compiled ones in the last bits.
        only: a shell pattern; functions are skipped unless their name, qualified name or file matches it.

    Raises:
        DumpDirectoryError: on entry: the directory cannot be written to.

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
        """The contents of `profile.json`; empty until the context ends."""

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
        """Mark the end of a step and the beginning of the next."""
        self._profiling.measurement.step()

    @property
    def recording(self) -> Recording:
        """Return the events from the profiler."""
        return self._profiling.measurement.recording

    def __str__(self) -> str:
        return "\n".join(most_expensive(self.result)) if self.result else "depyf: the profile has not ended yet"
