"""Run the program once, in a child process, and read what it did."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from depyf.findings import Finding, findings
from depyf.fix.plan import Plan
from depyf.fix.results import Record, Verdict, compare, read_record
from depyf.model.index_reader import Run, has_index, read_run
from depyf.model.run import Session

ENDED_LATE = "it did not end in time"


@dataclass(frozen=True)
class Program:
    """The program that is fixed: its script or module, its arguments, and how each run of it is made.

    directory: the working directory of every run; a copy of the user's unless they want their own.
    seconds: the most seconds of a run.
    kept: the copy of the user's directory from which `directory` is made again for each run; None for no copy.
    """

    target: str
    arguments: tuple[str, ...]
    is_module: bool
    directory: Path
    calls: int
    stops: bool
    seconds: float
    kept: Path | None = None

    def renew(self) -> None:
        """Make the working directory as the user has it, without files of an earlier run."""
        if self.kept is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
            shutil.copytree(self.kept, self.directory, symlinks=True)

    def path_of(self, file: str) -> str:
        """Return the path of a file that the index names: from the working directory, or from the script's."""
        beside = [Path.cwd(), *([] if self.is_module else [Path(self.target).parent])]
        return next((str(each / file) for each in beside if (each / file).is_file()), file)


@dataclass(frozen=True)
class Counts:
    """The numbers of a run. `eager` is the number of calls that ran eager, where that is known."""

    compiles: int = 0
    breaks: int = 0
    eager: int = 0
    failures: int = 0
    seconds: float = 0.0

    @property
    def badness(self) -> tuple[int, int]:
        """Return what an edit is to lower: failures first, then compiles, breaks and eager calls together."""
        return self.failures, self.compiles + self.breaks + self.eager


@dataclass(frozen=True)
class Outcome:
    """A run: its exit code, what it printed, what torch did, what compiled code returned, and the remaining findings.

    problem: why the run cannot be judged, or "".
    """

    code: int
    output: bytes
    counts: Counts
    record: Record | None
    left: tuple[Finding, ...] = ()
    run: Run | None = field(default=None, repr=False)
    problem: str = ""
    errors: str = ""

    @property
    def step(self) -> float | None:
        """Return the median seconds of a call, in the second half of the calls."""
        seconds = self.record.seconds if self.record is not None else []
        return statistics.median(seconds[len(seconds) // 2 :]) if len(seconds) > 3 else None


class Tries:
    """All runs of a program, each in a folder of its own."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program = program
        self._folder = folder
        self.count = 0
        self.began = time.monotonic()

    def run(self, texts: Mapping[str, str], *, is_eager: bool = False) -> Outcome:
        """Run the program with edited texts, by the path of their file."""
        program = self.program
        plan = Plan(
            program.target,
            program.arguments,
            str(self.next_folder()),
            program.is_module,
            dict(texts),
            program.calls,
            program.stops,
            is_eager,
        )
        program.renew()
        return self.run_plan(plan)

    def next_folder(self) -> Path:
        """Return the folder of the next run."""
        self.count += 1
        return self._folder / f"try_{self.count}"

    def run_plan(
        self, plan: Plan, child: str = "depyf.fix.child", environment: Mapping[str, str] | None = None
    ) -> Outcome:
        """Run a plan in the module `child`, in the working directory as it is now."""
        program, folder = self.program, Path(plan.folder)
        command = [sys.executable, "-m", child, str(plan.write())]
        given = None if environment is None else {**os.environ, **environment}
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            process = subprocess.Popen(
                command,
                cwd=program.directory,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout=program.seconds)
                problem = ""
            except subprocess.TimeoutExpired:
                code, problem = -signal.SIGKILL, ENDED_LATE
            finally:
                # Ctrl-C, a limit, and processes that the program has left behind.
                _end(process)
        return _outcome(plan, folder, code, problem)

    def forget(self) -> None:
        """Remove the folders of all runs."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _outcome(plan: Plan, folder: Path, code: int, problem: str) -> Outcome:
    output = (folder / "stdout").read_bytes()
    errors = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
    record = read_record(plan.record)
    if plan.is_eager or problem:
        return Outcome(code, output, Counts(), record, problem=problem, errors=errors)
    if not has_index(plan.dump):
        return Outcome(code, output, Counts(), record, problem="it left no dump", errors=errors)
    run = read_run(plan.dump)
    return Outcome(code, output, counts_of(run.session), record, tuple(findings(run.session)), run, errors=errors)


def counts_of(session: Session) -> Counts:
    """Return what torch did in a run."""
    compiles = [compiled for _, compiled in session.compiles()]
    return Counts(
        compiles=len(compiles),
        breaks=sum(len(each.breaks) for each in compiles),
        eager=sum(each.eager_calls or 0 for each in session.functions.values()),
        failures=sum(each.failure is not None for each in compiles),
        seconds=sum(each.seconds.get("total", 0.0) for each in compiles),
    )


@dataclass(frozen=True)
class Sameness:
    """How a run with edits compares with the program as it is, and with the program without any compile."""

    with_plain: Verdict
    with_eager: Verdict
    difference: str = ""

    @property
    def is_equal(self) -> bool:
        """Return whether nothing that was compared differs."""
        return not self.difference

    @property
    def words(self) -> str:
        """Return the comparison in words for the table."""
        if self.difference:
            return self.difference
        count = self.with_plain.compared
        close = "" if self.with_plain.is_bitwise else " within torch's tolerances"
        return f"results equal{close} in {count} call{'s' if count != 1 else ''}"


def sameness(made: Outcome, plain: Outcome, eager: Outcome) -> Sameness:
    """Compare a run with edits: exit code, output, and results against both other runs.

    Results count as equal to eager's only where those of the program as it is are.
    """
    with_plain, with_eager = compare(made.record, plain.record), compare(made.record, eager.record)
    if made.problem:
        return Sameness(with_plain, with_eager, made.problem)
    if made.code != plain.code:
        last = made.errors.strip().splitlines()[-1:] if made.code else []
        return Sameness(with_plain, with_eager, f"exit code {made.code}, not {plain.code}: {' '.join(last)[:160]}")
    if not with_plain.is_equal:
        return Sameness(with_plain, with_eager, f"results differ: {with_plain.difference}")
    if not with_eager.is_equal and compare(plain.record, eager.record).is_equal:
        return Sameness(with_plain, with_eager, f"results differ from eager: {with_eager.difference}")
    if made.output != plain.output:
        return Sameness(with_plain, with_eager, "it prints something else")
    return Sameness(with_plain, with_eager)
