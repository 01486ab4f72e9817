"""Decompile all files of a folder in parallel."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.cli.atomic import part_of, write_whole
from depyf.cli.outcome import decompile_found
from depyf.cli.pieces import pieces_of, written
from depyf.cli.target import PycFile, SourceFile, resolve
from depyf.cli.workers import Lost, run_jobs
from depyf.errors import DecompilationError

CACHE = "__pycache__"
FAILED = "failed"
NOT_ASKED = "decompiled"


@dataclass(frozen=True, slots=True)
class Job:
    """A file of a folder, and the path for its source."""

    path: Path
    out: Path
    prove: bool
    without: frozenset[str]
    as_written: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """The result for a file: its level, FAILED or NOT_ASKED, why it is not better, and the time in seconds."""

    path: Path
    level: str
    reason: str
    seconds: float


def jobs_of(
    folder: Path, out: Path, *, prove: bool, without: frozenset[str], as_written: bool = False
) -> list[Job]:
    """Return a job for each `.pyc` and `.py` below a folder, in the order of their paths.

    The source of a file in `__pycache__` goes to the place of the original source. If the original is there too, only
    the original is decompiled. Files that would go to the same place keep their full names.

    Args:
        folder: the folder with the files.
        out: the folder of the sources.
        prove: whether to prove each source.
        without: the passes to skip.
        as_written: whether to put the sources on the lines of the originals.
    """
    wanted: dict[Path, list[Path]] = collections.defaultdict(list)
    for path in sorted(folder.rglob("*.py*")):
        if path.suffix in (".py", ".pyc") and path.is_file():
            place = _source_place(path.relative_to(folder))
            if path.suffix == ".py" or not (folder / place).is_file():
                wanted[place].append(path)
    jobs = []
    for place, paths in wanted.items():
        for path in paths:
            target = place if len(paths) == 1 else place.with_name(f"{path.name}.py")
            jobs.append(Job(path, out / target, prove, without, as_written))
    return jobs


def _source_place(path: Path) -> Path:
    """Return the path of a file's source, below the same folder."""
    if path.parent.name == CACHE and path.suffix == ".pyc":
        return path.parent.parent / f"{path.name.split('.')[0]}.py"
    return path.with_suffix(".py")


def convert(job: Job) -> Report:
    """Decompile one file. Every error becomes part of the report."""
    start = time.perf_counter()
    target = PycFile(job.path) if job.path.suffix == ".pyc" else SourceFile(job.path)
    try:
        resolved = resolve(target)
        outcome = decompile_found(resolved, prove=job.prove, without=job.without, as_written=job.as_written)
        job.out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(job.out, outcome.source)
        verdict = outcome.verdict
        level, reason = (str(verdict.level), verdict.reason) if verdict is not None else (NOT_ASKED, "")
    except (DecompilationError, SyntaxError, OSError) as error:
        level, reason = FAILED, str(error).removeprefix(f"{job.path}: ")
        if isinstance(error, DecompilationError) and isinstance(target, PycFile):
            reason = f"{_rescued(target, job.out, error)}{reason}"
    except Exception as error:  # noqa: BLE001  one file never stops the others; what it was is in the summary
        level, reason = FAILED, f"{type(error).__name__}: {error}"
    return Report(job.path, level, reason, time.perf_counter() - start)


def _rescued(target: PycFile, out: Path, error: DecompilationError) -> str:
    """Write the whole code objects of a damaged file; return what to put before its reason."""
    pieces = pieces_of(target, error.reason)
    if pieces is None:
        return ""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, pieces.source)
    except OSError as problem:
        return f"{problem}; "
    return f"{written(pieces)}; "


def convert_all(
    jobs: Sequence[Job], *, count: int, limit: float, done: Callable[[Job, Report], None]
) -> list[Report]:
    """Decompile files in parallel, large ones first, and return the reports in the order of the jobs.

    count: the number of processes.
    limit: the time limit for a file, in seconds.
    done: is called with each job and its report when it is ready.
    """
    reports: dict[Path, Report] = {}
    # A large file that begins last keeps one process busy while the others have nothing to do.
    for job, result in run_jobs(convert, sorted(jobs, key=_size, reverse=True), count=count, limit=limit):
        if isinstance(result, Lost):
            part_of(job.out).unlink(missing_ok=True)
            result = Report(job.path, FAILED, result.reason, limit)
        reports[job.path] = result
        done(job, result)
    return [reports[job.path] for job in jobs]


def _size(job: Job) -> int:
    """Return the size of a file in bytes, 0 if it cannot be read: its job reports why."""
    try:
        return job.path.stat().st_size
    except OSError:
        return 0


def summary(folder: Path, reports: Sequence[Report], seconds: float, count: int, kept: int = 0) -> str:
    """Return a table of the files at each level, the reasons for failed and unproven files, and the slowest files.

    Args:
        folder: the folder with the files, to which paths are relative.
        reports: the result of each file.
        seconds: how long the command took.
        count: the number of processes.
        kept: how many reports are from an earlier run.
    """
    levels = collections.Counter(report.level for report in reports)
    counts = ", ".join(f"{levels[level]} {level}" for level in sorted(levels))
    worked = sum(report.seconds for report in reports)
    lines = [f"{len(reports)} files: {counts or 'nothing to do'}"]
    lines.append(f"{seconds:.1f} s, {worked:.1f} s of work in {count} processes")
    if kept:
        lines.append(f"{kept} of these files are from an earlier run")
    lines += _table(reports)
    for level in (FAILED, "UNPROVEN"):
        for report in reports:
            if report.level == level:
                lines.append(f"  {level:8}  {report.path.relative_to(folder)}  {_short(report.reason)}")
    slowest = sorted(reports, key=lambda report: -report.seconds)[:SLOWEST]
    lines += [f"  {report.seconds:6.2f} s  {report.path.relative_to(folder)}" for report in slowest]
    return "\n".join(lines)


def _table(reports: Sequence[Report]) -> list[str]:
    """Return the number of files at each level, their share, and the seconds of work."""
    if not reports:
        return []
    rows = [f"  {'level':12} {'files':>6} {'share':>7} {'seconds':>8}"]
    for level in sorted({report.level for report in reports}):
        taken = [report.seconds for report in reports if report.level == level]
        rows.append(f"  {level:12} {len(taken):6} {len(taken) / len(reports):7.1%} {sum(taken):8.1f}")
    return rows


def _short(reason: str) -> str:
    first = reason.partition("\n")[0]
    return first if len(first) <= REASON else f"{first[: REASON - 3]}..."


SLOWEST = 3
REASON = 160
