"""Turn trace files into a directory of dumps: one for each group of equal ranks, and the differences of the groups."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, field, replace
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.model.job_index import RANKS
from depyf.model.writer import prepared_directory, write_whole
from depyf.trace.job.contrast import first_difference
from depyf.trace.job.dumping import dump_trace
from depyf.trace.job.files import Source, TraceError, is_url, open_trace
from depyf.trace.job.groups import OTHER_TEXT, Divergence, Job, job_of, ranks_in_words
from depyf.trace.job.scan import Rank
from depyf.trace.job.work import Scanned, scan_all

MARK = ".depyf-trace"
"""A file in an output directory of depyf with the names of the files that depyf wrote, which it may overwrite."""
MOST_GROUPS = 32
"""The most groups of equal ranks that get their own dump, largest first."""


@dataclass(slots=True)
class Options:
    """The settings for reading traces.

    every_rank: write a dump for each rank instead of one for each group.
    known: the results for files that have not changed, by path and size.
    """

    executor: Executor | None = None
    every_rank: bool = False
    progress: Callable[[int], None] = lambda _: None
    known: dict[tuple[str, int], Scanned] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dumped:
    """The dumps of a job: their directory, and for each trace the dump that stands for it.

    A trace that cannot be read has no dump, nor have the smallest groups if there are many.
    """

    directory: Path
    dumps: dict[str, Path]
    divergences: tuple[Divergence, ...] = ()


def dump_jobs(sources: Sequence[Source], output: Path, options: Options) -> list[Dumped]:
    """Write the dumps of all jobs.

    Args:
        sources: the traces, each with its job and rank.
        output: the directory for the dumps.
        options: how to run, and what to keep.

    Raises:
        TraceError: `output` contains other files.
        OSError: it cannot be written, or the only file cannot be read.
    """
    directory = emptied(output, [source.path for source in sources if not is_url(source.path)])
    jobs: dict[int, list[Source]] = {}
    for source in sources:
        jobs.setdefault(source.job, []).append(source)
    dumped: list[Dumped] = []
    for number, sources_of_job in enumerate(jobs.values(), start=1):
        folder = directory / f"job_{number}" if len(jobs) > 1 else directory
        if len(sources_of_job) == 1:
            with open_trace(sources_of_job[0].path) as stream:
                dump_trace(stream, sources_of_job[0].name, folder)
            dumped.append(Dumped(folder, {sources_of_job[0].path: folder}))
        else:
            dumped.append(_dump_ranks(sources_of_job, folder, options))
    return dumped


def emptied(output: Path, inputs: Sequence[str | Path]) -> Path:
    """Create the output directory, without the files of an earlier report, and return it.

    Raises:
        TraceError: it contains other files, or files that are to be read.
        OSError: it cannot be written.
    """
    if output.is_dir() and any(output.iterdir()):
        resolved = output.resolve()
        inside = next((source for source in inputs if resolved in Path(source).resolve().parents), None)
        if inside is not None:
            raise TraceError(f"{inside} is inside {output}, which depyf overwrites: choose another directory with -o")
        foreign = _foreign(output)
        if foreign:
            raise TraceError(f"{output} contains other files ({foreign}): choose an empty directory with -o")
        shutil.rmtree(output)
    directory = prepared_directory(output)
    write_whole(directory / MARK, "")
    return directory


def mark(directory: Path) -> None:
    """Record the current content of an output directory."""
    write_whole(directory / MARK, "".join(f"{entry.name}\n" for entry in sorted(directory.iterdir())))


def _foreign(output: Path) -> str:
    """Return the name of a file in a directory that no report has written, or ""."""
    inside = sorted(entry.name for entry in output.iterdir())
    if MARK not in inside:
        return inside[0]
    written = (output / MARK).read_text(encoding="utf-8", errors="replace").splitlines()
    # Without names, the run that began to write here did not finish.
    return next((name for name in inside if written and name not in (*written, MARK)), "")


def _dump_ranks(sources: Sequence[Source], directory: Path, options: Options) -> Dumped:
    scanned = _scanned(sources, options)
    ranks = [replace(rank, rank=place if rank.rank is None else rank.rank) for place, rank in enumerate(scanned.ranks)]
    job = job_of(ranks, scanned.facts)
    shown = [group.ranks[0] for group in job.groups[:MOST_GROUPS]]
    if options.every_rank:
        shown = [rank for rank in ranks if not rank.error]
    for rank in shown:
        with open_trace(rank.path) as stream:
            dump_trace(stream, rank.path.rpartition("/")[2], directory / f"rank_{rank.rank}")
    job.divergences[:] = [_in_detail(divergence, job, directory) for divergence in job.divergences]
    write_whole(directory / RANKS, json.dumps(_content(job, shown), indent=1) + "\n")
    folders = {rank.facts: directory / f"rank_{rank.rank}" for rank in reversed(shown)}
    dumps = {rank.path: folders[rank.facts] for rank in ranks if not rank.error and rank.facts in folders}
    return Dumped(directory, dumps, tuple(job.divergences))


def _in_detail(divergence: Divergence, job: Job, directory: Path) -> Divergence:
    """Return a divergence with the differing lines, if it is one of texts."""
    groups = {ranks_in_words(rank.rank or 0 for rank in group.ranks): group for group in job.groups}
    if divergence.ranks not in groups or not divergence.cause.endswith(OTHER_TEXT):
        return divergence
    group_dump, norm = (
        directory / f"rank_{group.ranks[0].rank}" for group in (groups[divergence.ranks], job.groups[0])
    )
    words = first_difference(group_dump, norm, divergence.compile, divergence.kind)
    return replace(divergence, cause=f"{divergence.cause.removesuffix(OTHER_TEXT)}{words}") if words else divergence


def _scanned(sources: Sequence[Source], options: Options) -> Scanned:
    """Return the results for all files. Files that have not changed are not read again."""
    new = [source for source in sources if (source.path, source.size) not in options.known]
    scanned = scan_all(new, options.executor, options.progress)
    for source, rank in zip(new, scanned.ranks, strict=True):
        options.known[source.path, source.size] = Scanned([rank], {rank.facts: scanned.facts.get(rank.facts, ())})
    whole = Scanned()
    for source in sources:
        whole.add(options.known[source.path, source.size])
    return whole


def _content(job: Job, shown: Sequence[Rank]) -> dict[str, object]:
    folders = {rank.facts: f"rank_{rank.rank}" for rank in reversed(shown)}
    omitted: dict[str, int] = {}
    for rank in job.ranks:
        for cause, count in rank.omitted.items():
            omitted[cause] = omitted.get(cause, 0) + count
    return {
        "ranks": len(job.ranks),
        "bytes": sum(rank.size for rank in job.ranks),
        "records": sum(rank.records for rank in job.ranks),
        "omitted": omitted,
        "missing": ranks_in_words(job.missing),
        "groups": [
            {
                "ranks": ranks_in_words(rank.rank or 0 for rank in group.ranks),
                "count": len(group.ranks),
                "folder": folders.get(group.facts, ""),
                "compiles": len(group.ranks[0].seconds),
                "least_seconds": min(sum(rank.seconds.values()) for rank in group.ranks),
                "most_seconds": max(sum(rank.seconds.values()) for rank in group.ranks),
                "last": group.ranks[0].last,
                "unfinished": list(group.ranks[0].unfinished),
            }
            for group in job.groups
        ],
        "divergences": [asdict(divergence) for divergence in job.divergences],
    }
