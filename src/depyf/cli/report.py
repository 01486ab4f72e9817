"""`depyf report`: build the pages of a dump or of traces."""

from __future__ import annotations

import contextlib
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import cast

import click

from depyf.bytecode.records import dataclass
from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.trace.job.evidence import Evidence, add_compiles, evidence_of
from depyf.trace.job.files import Source, TraceError, find, holds_trace, indexes, is_dump, is_url
from depyf.trace.job.hang import verdict_of
from depyf.trace.job.recorder import Recorded, in_words, mismatches
from depyf.trace.job.reporting import Dumped, Options, dump_jobs, emptied, mark
from depyf.trace.job.timeline import write_timeline
from depyf.trace.job.verdict import verdict_lines
from depyf.trace.job.work import scan_all
from depyf.views.html.build import Report, build_report

OUTPUT = Path("depyf_report")
SECONDS_BETWEEN = 2.0
"""Seconds between two looks of `--follow`."""


@click.command("report", short_help="Build the report of a dump, or of torch's traces.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help=f"Output directory; {OUTPUT} by default for traces."
)
@click.option("--single-file", is_flag=True, help="Put the whole report into one file.")
@click.option("--open", "opened", is_flag=True, help="Open the report in the browser.")
@click.option("--every-rank", is_flag=True, help="Write the texts of every rank, not of one rank for each group.")
@click.option("--scheduler", default="", metavar="ADDRESS", help="Read traces on the workers of this dask scheduler.")
@click.option("--follow", is_flag=True, help="Rebuild the report when a trace has grown, until interrupted.")
@click.option("--perfetto", type=click.Path(path_type=Path), help="Write the timeline of all ranks to this file.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
def report(
    output: Path | None,
    single_file: bool,
    opened: bool,
    every_rank: bool,
    scheduler: str,
    follow: bool,
    perfetto: Path | None,
    paths: tuple[str, ...],
) -> None:
    """Build the report of a dump or of traces, and print the path of the first page.

    PATH is the directory of a dump, or a trace: a file that TORCH_TRACE wrote, a folder with one file for each rank, a
    pattern, a compressed file, or a URL that fsspec opens. The report goes to the folder `report` of the output
    directory,
    which for a dump is the dump itself by default. Its files are static and need no server. Exit code 1 if the report
    cannot be written or the dump is broken, 2 if PATH is no dump or trace, or if the output directory has other files.
    """
    try:
        with _executor(scheduler) as executor:
            options, pages = Options(executor, every_rank), list[Report]()
            for given in _followed(paths) if follow else (_given(paths),):
                for line in given.lines:
                    click.echo(line)
                if given.lines and not given.traces and not given.dumps:
                    if perfetto is not None:
                        write_timeline((), perfetto, (), given.recorded)
                    continue
                pages = _reports(given, output, options, single_file, perfetto)
                for page in pages:
                    click.echo(str(page.page))
    except KeyboardInterrupt:
        return
    except (FileNotFoundError, TraceError) as error:
        click.echo(f"depyf report: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except (OSError, ValueError) as error:
        click.echo(f"depyf report: {error}", err=True)
        sys.exit(EXIT_FAILED)
    if opened and pages:
        webbrowser.open(pages[0].page.resolve().as_uri())


@dataclass(frozen=True, slots=True)
class Given:
    """The input: dumps, each with the times of its indexes, and traces.

    recorded: the recorder's dumps.
    lines: what the flight recorder, stacks and outputs in the same folders show about the ranks, verdict first.
    """

    dumps: tuple[tuple[Path, tuple[int, ...]], ...]
    traces: tuple[Source, ...]
    lines: tuple[str, ...] = ()
    recorded: tuple[Recorded, ...] = ()


def _given(paths: tuple[str, ...]) -> Given:
    dumps = [Path(path) for path in paths if is_dump(path)]
    traces = [path for path in paths if not is_dump(path)]
    missing = next((dump for dump in dumps if not dump.exists()), None)
    if missing is not None:
        raise FileNotFoundError(f"there is neither a dump nor a trace at {missing}")
    left = evidence_of(trace for trace in traces if not is_url(trace) and Path(trace).exists())
    sources = _traces(traces, has_more=not left.is_empty)
    return Given(
        tuple((dump, tuple(sorted(index.stat().st_mtime_ns for index in indexes(dump)))) for dump in dumps),
        tuple(sources),
        () if left.is_empty else tuple(_lines(left, sources)),
        tuple(left.recorded[rank] for rank in sorted(left.recorded)),
    )


def _traces(paths: Sequence[str], *, has_more: bool) -> list[Source]:
    """Return the traces of paths; `has_more`: other files of the job lie beside them, or instead of them."""
    if has_more:
        paths = [path for path in paths if holds_trace(path)]
    sources = find(paths) if paths else []
    return [source for source in sources if source.begins] if has_more else sources


def _lines(left: Evidence, sources: Sequence[Source]) -> Iterator[str]:
    """Yield the verdict of a job, if the files show one, and the first collectives at which its ranks differ."""
    if sources:
        add_compiles(left, scan_all(sources))
    verdict = verdict_of(left)
    dumps = [left.recorded[rank] for rank in sorted(left.recorded)]
    if verdict is not None and verdict.is_sure:
        yield from verdict_lines(verdict)
    elif verdict is not None or not any(call.is_done for dump in dumps for call in dump.calls.values()):
        # Without a verdict a missing record only says that the dumps were taken at different moments.
        yield from map(in_words, mismatches(dumps))
        yield from verdict_lines(verdict) if verdict is not None else ()


def _followed(paths: tuple[str, ...]) -> Iterator[Given]:
    """Yield the input, and again whenever something has grown or is new."""
    last = None
    while True:
        given = _given(paths)
        if given != last:
            yield given
        last = given
        time.sleep(SECONDS_BETWEEN)


def _reports(
    given: Given, output: Path | None, options: Options, single_file: bool, perfetto: Path | None
) -> list[Report]:
    if perfetto is not None and not given.traces and not given.recorded:
        raise TraceError("--perfetto writes the timeline of traces, but no trace was given")
    jobs = _dumped(given.traces, output or OUTPUT, options)
    reports = [build_report(job.directory, single_file=single_file) for job in jobs]
    dumps = [dump for dump, _ in given.dumps]
    if output is not None and [dump.resolve() for dump in dumps] != [output.resolve()]:
        if not jobs:
            emptied(output, dumps)
        is_only = len(dumps) == 1 and not jobs
        folders = [output if is_only else output / f"dump_{number + 1}" for number in range(len(dumps))]
    else:
        folders = dumps
    for dump, folder in zip(dumps, folders, strict=True):
        reports.append(build_report(dump, single_file=single_file, output=folder))
    if perfetto is not None:
        write_timeline(given.traces, perfetto, jobs, given.recorded)
    if jobs or folders != dumps:
        mark(output or OUTPUT)
    return reports


def _dumped(sources: Sequence[Source], output: Path, options: Options) -> list[Dumped]:
    if not sources:
        return []
    with _bar(sum(source.size for source in sources)) as progress:
        options.progress = progress
        return dump_jobs(sources, output, options)


@contextlib.contextmanager
def _executor(address: str) -> Iterator[Executor | None]:
    """Give the executor that reads traces: a dask scheduler's workers, or None for local processes."""
    if not address:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise TraceError("--scheduler needs dask: pip install 'dask[distributed]'") from error
    with Client(address) as client, client.get_executor() as executor:
        yield cast(Executor, executor)


@contextlib.contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    """Give a function that shows in a terminal how many bytes are read."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=total, label="reading", file=sys.stderr) as bar:
        yield lambda size: bar.update(size)
