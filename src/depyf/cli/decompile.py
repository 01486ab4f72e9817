"""`depyf decompile TARGET`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import click

from depyf.cli.atomic import write_whole
from depyf.cli.forms import SHOWS, STANDARD
from depyf.cli.locate import NotFound as NothingFound
from depyf.cli.outcome import decompile_found
from depyf.cli.problems import Failed, NotFound, Usage
from depyf.cli.target import Class, Folder, Found, Function, Module, Named, PycFile, SourceFile, parse_target, resolve
from depyf.decompiler.pipeline.table import OPTIONAL, PASSES
from depyf.errors import DecompilationError

LIMIT = 60.0


@click.command(short_help="Print the source of bytecode.")
@click.argument("target")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Write there instead of printing; the sources of a folder go below it.",
)
@click.option("--show", type=click.Choice(SHOWS), help="Print a form on the way to source instead of the source.")
@click.option(
    "--stop-after",
    metavar="PASS",
    help="Print the form that this pass leaves; with --show steps, stop before the rewrite of this number.",
)
@click.option(
    "--without", multiple=True, metavar="PASS", help="Leave an optional pass out. May be given several times."
)
@click.option(
    "--as-written",
    is_flag=True,
    help="Lay the source out on the lines on which its author wrote it, so that tracebacks and debuggers fit it.",
)
@click.option("--prove/--no-prove", default=True, help="Say on stderr how far the source is proven (the default).")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="Processes that work on a folder.",
)
@click.option(
    "--limit",
    type=click.FloatRange(0.1),
    default=LIMIT,
    show_default=True,
    help="Seconds that a file of a folder may take.",
)
def decompile(
    target: str,
    out: Path | None,
    show: str | None,
    stop_after: str | None,
    without: tuple[str, ...],
    as_written: bool,
    prove: bool,
    jobs: int,
    limit: float,
) -> None:
    """Print the source of TARGET, from its bytecode alone.

    TARGET is FILE.pyc (of CPython 3.7 to 3.15), FILE.py (compiled first), package.module, package.module:name of a
    function, method or class, or a folder of .pyc and .py files. Nothing of it is executed; only what the bytecode of
    its module does not show (a function made while the module runs, or one of several definitions of that name) is
    found by importing the module.

    \b
    Exit codes:
      0  decompiled
      1  what TARGET names cannot be decompiled, a file of a folder cannot, or -o cannot be written
      2  wrong usage, or TARGET leads to nothing
    """
    left_out = _left_out(without)
    if as_written and (show or stop_after or not prove):
        raise Usage("--as-written prints a proven source: it goes with no --show, --stop-after or --no-prove")
    try:
        what = parse_target(target)
        if isinstance(what, Folder):
            if out is None or show is not None or stop_after is not None:
                raise Usage("a folder needs -o FOLDER, and has no --show and no --stop-after")
            _folder(what.path, out, prove, left_out, as_written, jobs, limit)
            return
        found = _resolved(target, what)
        if show or stop_after:
            if isinstance(found, Class):
                raise Usage("--show and --stop-after take a module or a function: a class has no bytecode of its own")
            _write(_shown(target, found, show, stop_after, left_out), out)
        else:
            _write(_source(target, found, prove, left_out, as_written), out)
    except NothingFound as error:
        raise NotFound(str(error)) from error
    except (DecompilationError, SyntaxError, TypeError) as error:
        raise Failed(f"{target}: {error}") from error


def _left_out(without: tuple[str, ...]) -> frozenset[str]:
    """Return the passes to leave out. Raises Usage for what is no optional pass."""
    wrong = set(without) - OPTIONAL
    if wrong:
        raise Usage(f"--without takes {', '.join(sorted(OPTIONAL))}; not {', '.join(sorted(wrong))}")
    return frozenset(without)


def _resolved(target: str, what: PycFile | SourceFile | Named) -> Found:
    """Return what a target leads to; on stderr, whether its module was imported."""
    found = resolve(what)
    if not isinstance(found, Module) and found.imported:
        click.echo(f"{target}: the module was imported, as its bytecode does not show what is meant", err=True)
    return found


def _source(target: str, found: Found, prove: bool, without: frozenset[str], as_written: bool) -> Iterator[str]:
    outcome = decompile_found(found, prove=prove, without=without, as_written=as_written)
    if as_written and isinstance(found, Function) and found.module is None:
        click.echo(f"{target}: it stands in no module that is known, so it is not laid out on lines", err=True)
    if outcome.verdict is not None:
        click.echo(f"{target}: {outcome.verdict}", err=True)
    yield outcome.source


def _shown(
    target: str, found: Module | Function, show: str | None, stop_after: str | None, without: frozenset[str]
) -> Iterator[str]:
    """Return the parts of what `--show` and `--stop-after` ask for."""
    from depyf.cli.shown import neutral, show_after, show_bytecode, show_steps
    from depyf.cli.stages import show_page

    if show == "html":
        if stop_after is not None:
            raise Usage("--show html has no --stop-after: it shows the whole way")
        return iter((show_page(target, found, without),))
    code = neutral(found)
    if show == "bytecode":
        return show_bytecode(code)
    if show == "steps":
        if stop_after is not None and not stop_after.isdecimal():
            raise Usage("--show steps stops before the number of a rewrite: --stop-after 3")
        return show_steps(code, int(stop_after or 0), without)
    passes = STANDARD.get(show or "", ())
    if stop_after is not None:
        names = [one.name for one in PASSES]
        if stop_after not in names:
            raise Usage(f"--stop-after takes one of {', '.join(names)}; not {stop_after}")
        passes = (stop_after,)
    return show_after(code, passes, without)


def _write(parts: Iterator[str], out: Path | None) -> None:
    if out is None:
        for number, part in enumerate(parts):
            text = part.rstrip("\n").encode("utf-8", "backslashreplace").decode()
            click.echo(("\n" if number else "") + text)
        return
    try:
        write_whole(out, "\n".join(parts))
    except OSError as error:
        raise Failed(f"{out}: {error.strerror}") from error


def _folder(
    folder: Path, out: Path, prove: bool, without: frozenset[str], as_written: bool, count: int, limit: float
) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from depyf.cli.folder import FAILED, Report, convert_all, jobs_of, summary

    start = time.perf_counter()
    jobs = jobs_of(folder, out, prove=prove, without=without, as_written=as_written)
    count = min(count, max(len(jobs), 1))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("decompiling", total=len(jobs))

        def done(report: Report) -> None:
            progress.update(task, advance=1)

        reports = convert_all(jobs, count=count, limit=limit, done=done)
    click.echo(summary(folder, reports, time.perf_counter() - start, count))
    failed = sum(report.level == FAILED for report in reports)
    if failed:
        raise Failed(f"{failed} of {len(reports)} files could not be decompiled")
