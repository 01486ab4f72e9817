"""Run the program once, in a child process, and read what it did."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from depyf.findings import Finding, findings
from depyf.fix.counts import Counts
from depyf.fix.plan import Plan
from depyf.fix.processes import Nursery, run_afresh
from depyf.fix.results import Record, Verdict, compare, read_record
from depyf.model.index_reader import Run, has_index, read_run
from depyf.model.run import Session

LEAST_STEADY = 2
"""The least calls without a compile, in the second half of a run, for the table to show the time of a call."""


_SECONDS = re.compile(rb" in [0-9.]+s(?: \([0-9:]+\))?")
"""The time that pytest prints: ` in 0.12s`."""


@dataclass(frozen=True)
class Program:
    """The program that is fixed: its script or module, its arguments, and how each run of it is made.

    directory: the working directory of every run; a copy of the user's unless they want their own.
    seconds: the most seconds of a run.
    kept: the copy of the user's directory from which `directory` is made again for each run; None for no copy.
    backend: the backend to use instead of the program's; empty for the program's own.
    """

    target: str
    arguments: tuple[str, ...]
    is_module: bool
    directory: Path
    calls: int
    stops: bool
    seconds: float
    kept: Path | None = None
    backend: str = ""

    def renew(self) -> None:
        """Make the working directory as the user has it, without files of an earlier run."""
        if self.kept is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
            shutil.copytree(self.kept, self.directory, symlinks=True)

    def served(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return edited texts by the paths of the user's files, and by those of their copies, which a module runs."""
        here = Path.cwd()
        if self.kept is None or not self.is_module:
            return dict(texts)
        files = {path: Path(path) for path in texts}
        inside = {path: file.relative_to(here) for path, file in files.items() if file.is_relative_to(here)}
        return {**texts, **{str(self.directory / inside[path]): texts[path] for path in inside}}

    def path_of(self, file: str) -> str:
        """Return the path of a file that the index names: from the working directory, the script's, or a package."""
        packages = [Path(sysconfig.get_path(scheme)) for scheme in ("purelib", "platlib")]
        beside = [Path.cwd(), *([] if self.is_module else [Path(self.target).parent]), *packages]
        return next((str(folder / file) for folder in beside if (folder / file).is_file()), file)


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
        """Return the median seconds of a call that does not compile, in the second half of the calls."""
        steady = self.record.steady.values() if self.record is not None else ()
        return statistics.median(steady) if len(steady) >= LEAST_STEADY else None


class Tries:
    """All runs of a program, each in a folder of its own.

    nursery: the process that forks the runs; None for one of its own, if the program allows it.
    only_forks: whether also those runs are forked that are otherwise made in a new process.
    forks: whether runs may be forked.
    """

    def __init__(
        self,
        program: Program,
        folder: Path,
        *,
        nursery: Nursery | None = None,
        only_forks: bool = False,
        forks: bool = True,
    ) -> None:
        self.program = program
        self._folder = folder
        self.count = 0
        self.began = time.monotonic()
        self._is_shared = nursery is not None
        self.only_forks = only_forks
        is_forked = forks and hasattr(os, "fork") and not _reads_environment(program)
        self._nursery = nursery or (Nursery() if is_forked else None)

    def run(
        self, texts: Mapping[str, str], *, is_eager: bool = False, is_afresh: bool = False, stops: bool = False
    ) -> Outcome:
        """Run the program with edited texts, by the path of their file.

        Args:
            texts: the edited texts.
            is_eager: compile nothing.
            is_afresh: run in a new process.
            stops: end the run after the calls that are compared.

        Returns:
            What the run did.
        """
        program = self.program
        plan = Plan(
            program.target,
            program.arguments,
            str(self.next_folder()),
            str(program.directory),
            program.is_module,
            program.served(texts),
            program.calls,
            program.stops or stops,
            is_eager,
            program.backend,
        )
        program.renew()
        is_forked = self.only_forks or not is_afresh
        nursery = self._nursery if is_forked and self._nursery is not None and self._nursery.is_alive else None
        ended = nursery.run(plan, program.seconds) if nursery is not None else None
        return self.run_plan(plan) if ended is None else _outcome(plan, *ended)

    def next_folder(self) -> Path:
        """Make and return the folder of the next run."""
        self.count += 1
        folder = self._folder / f"try_{self.count}"
        folder.mkdir(parents=True)
        return folder

    def run_plan(
        self, plan: Plan, child: str = "depyf.fix.child", environment: Mapping[str, str] | None = None
    ) -> Outcome:
        """Run a plan in a new process, in the working directory as it is now.

        Args:
            plan: the task of the process.
            child: the module that the process runs.
            environment: variables that are set beside those of this process.

        Returns:
            What the run did.
        """
        return _outcome(plan, *run_afresh(plan, self.program.seconds, child, environment))

    def forget(self) -> None:
        """End the nursery, and remove the folders of all runs."""
        if self._nursery is not None and not self._is_shared:
            self._nursery.end()
        shutil.rmtree(self._folder, ignore_errors=True)


def _reads_environment(program: Program) -> bool:
    """Return whether a program may set variables that torch reads when it is imported. A forked run has imported it."""
    if program.is_module:
        return True
    try:
        text = Path(program.target).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return "environ" in text or "putenv" in text


def _outcome(plan: Plan, code: int, problem: str) -> Outcome:
    folder = Path(plan.folder)
    output = (folder / "stdout").read_bytes()
    if plan.is_pytest:
        output = _SECONDS.sub(b"", output)
    errors = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
    record = read_record(plan.record)
    if plan.is_eager or problem:
        return Outcome(code, output, Counts(), record, problem=problem, errors=errors)
    if not has_index(plan.dump):
        last = "".join(errors.strip().splitlines()[-1:])[:200]
        return Outcome(code, output, Counts(), record, problem=": ".join(filter(None, ("it left no dump", last))))
    run = read_run(plan.dump)
    return Outcome(
        code, output, counts_of(run.session, record), record, tuple(findings(run.session)), run, errors=errors
    )


def counts_of(session: Session, record: Record | None = None) -> Counts:
    """Return what torch did in a run.

    record: the calls of the run, for the number of those that a cache entry served.
    """
    compiles = [compiled for _, compiled in session.compiles()]
    entries = record.entries if record is not None else []
    roots = [root for root in session.roots() if f"{os.path.basename(root.filename)}:{root.first_line}" in entries]
    entered = [compiled for root in roots for compiled in root.compiles]
    served = sum(compiled.hits or 0 for compiled in entered)
    # A function that could not be compiled has no entry, so that nothing counts its calls. None of them was compiled.
    is_left_out = bool(entered) and all(compiled.failure is not None for compiled in entered)
    is_known = record is not None and (is_left_out or any(compiled.hits is not None for compiled in entered))
    calls = len(record.seconds) if record is not None and is_known else None
    return Counts(
        compiles=len(compiles),
        breaks=sum(len(compiled.breaks) for compiled in compiles),
        eager=sum(function.eager_calls or 0 for function in session.functions.values()),
        failures=sum(compiled.failure is not None for compiled in compiles),
        seconds=sum(compiled.seconds.get("total", 0.0) for compiled in compiles),
        calls=calls,
        compiled=min(served, calls or 0),
    )


def step_ratio(plain: Outcome, patched: Outcome) -> float | None:
    """Return how many times faster a call is in the second of two runs: the median over the second half of the calls.

    Returns:
        The median of the ratios of calls with the same number that compile in neither run, or None for
        fewer than two of them, or other calls.
    """
    if plain.record is None or patched.record is None or len(plain.record.seconds) != len(patched.record.seconds):
        return None
    before, after = plain.record.steady, patched.record.steady
    ratios = [before[number] / after[number] for number in before.keys() & after.keys()]
    return statistics.median(ratios) if len(ratios) >= LEAST_STEADY else None


_ERROR = re.compile(r"(?:\w+\.)*(\w*(?:Error|Exception|Unsupported|Exit|Interrupt)): *(\S.*)?")


def last_error(errors: str) -> str:
    """Return the error with which a program ended, without torch's lines of advice after it; else the last line.

    A message that begins on its second line, as Dynamo's may, is joined to the name of its exception.
    """
    rows = errors.strip().splitlines()
    for at in range(len(rows) - 1, -1, -1):
        match = _ERROR.match(rows[at])
        if match is not None:
            message = match[2] or next((row.strip() for row in rows[at + 1 :] if row.strip()), "")
            return f"{match[1]}: {message}".rstrip(": ")
    return rows[-1] if rows else ""


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


def sameness(patched: Outcome, plain: Outcome, eager: Outcome, border: Outcome | None = None) -> Sameness:
    """Compare a run with edits: exit code, output, and results against both other runs.

    Results count as equal to eager's only where those of the program as it is are.

    Args:
        patched: the run with edits.
        plain: the program as it is.
        eager: the program as it is, without any compile.
        border: the run with edits without any compile, if they give `torch.compile` another function. Its calls and its
            output are those to compare with; without any compile, it does not matter what `torch.compile` is given.
    """
    base, other = (plain, eager) if border is None else (border, border)
    with_plain, with_eager = compare(patched.record, base.record), compare(patched.record, other.record)
    if border is not None and (border.code, border.output) != (plain.code, plain.output):
        return Sameness(with_plain, with_eager, "it does something else without any compile")
    if patched.problem:
        return Sameness(with_plain, with_eager, patched.problem)
    if patched.code != plain.code:
        last = last_error(patched.errors) if patched.code else ""
        return Sameness(with_plain, with_eager, f"exit code {patched.code}, not {plain.code}: {last[:160]}")
    if not with_plain.is_equal:
        return Sameness(with_plain, with_eager, f"results differ: {with_plain.difference}")
    if not with_eager.is_equal and compare(base.record, other.record).is_equal:
        return Sameness(with_plain, with_eager, f"results differ from eager: {with_eager.difference}")
    if patched.output != plain.output:
        return Sameness(with_plain, with_eager, "it prints something else")
    return Sameness(with_plain, with_eager)
