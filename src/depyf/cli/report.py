"""`depyf report`: the pages about a dump or about traces, for a browser."""

from __future__ import annotations

import contextlib
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import cast

import click

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.report.html.build import Report, build_report
from depyf.trace.files import Source, TraceError, find, is_dump
from depyf.trace.reporting import Options, dump_jobs
from depyf.trace.timeline import write_timeline

OUTPUT = Path("depyf_report")
SECONDS_BETWEEN = 2.0
"""How often `--follow` looks."""


@click.command("report")
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Directory of a report of traces ({OUTPUT}).")
@click.option("--single-file", is_flag=True, help="Put all into one file, to be sent around.")
@click.option("--open", "opened", is_flag=True, help="Open it in the browser.")
@click.option("--every-rank", is_flag=True, help="Write the texts of every rank, not of one in each group.")
@click.option("--scheduler", default="", metavar="ADDRESS", help="Read traces on the workers of this dask scheduler.")
@click.option("--follow", is_flag=True, help="Make the report again when a trace has grown, until interrupted.")
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
    """Build the report of a dump or of traces, and print where its first page is.

    PATH is the directory of a dump, or a trace: a file that TORCH_TRACE wrote, a folder of them (one a rank), a
    pattern, a compressed file, or a URL that fsspec opens. The report is a folder `report` in the dump, or in the
    output directory: static files that need no server and no network. Exit code 1 if it cannot be written or the
    dump is broken, 2 if there is neither a dump nor a trace.
    """
    if output is not None and len(paths) == 1 and is_dump(paths[0]):
        click.echo(f"depyf report: {paths[0]} is a dump, its report is written into it; -o is for traces", err=True)
        sys.exit(EXIT_USAGE)
    try:
        with _executor(scheduler) as executor:
            options = Options(executor, every_rank)
            for sources in _followed(paths) if follow else (_sources(paths),):
                pages = _reports(paths, sources, output or OUTPUT, options, single_file, perfetto)
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
    if opened:
        webbrowser.open(pages[0].page.resolve().as_uri())


def _sources(paths: tuple[str, ...]) -> list[Source]:
    """Return the traces that paths name; none where they name a dump."""
    return [] if len(paths) == 1 and is_dump(paths[0]) else find(paths)


def _followed(paths: tuple[str, ...]) -> Iterator[list[Source]]:
    """Yield the traces, and again whenever one has grown or another is there."""
    last: list[Source] = []
    while True:
        sources = _sources(paths)
        if sources != last:
            yield sources
        last = sources
        time.sleep(SECONDS_BETWEEN)


def _reports(
    paths: tuple[str, ...],
    sources: list[Source],
    output: Path,
    options: Options,
    single_file: bool,
    perfetto: Path | None,
) -> list[Report]:
    if not sources:
        return [build_report(Path(paths[0]), single_file=single_file)]
    with _bar(sum(source.size for source in sources)) as progress:
        options.progress = progress
        directories = dump_jobs(sources, output, options)
    if perfetto is not None:
        write_timeline(sources, perfetto)
    return [build_report(directory, single_file=single_file) for directory in directories]


@contextlib.contextmanager
def _executor(address: str) -> Iterator[Executor | None]:
    """Give what reads traces: the workers of a dask scheduler, or None for processes of this machine."""
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
    """Give what shows how many bytes are done, in a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=total, label="reading", file=sys.stderr) as bar:
        yield lambda size: bar.update(size)
