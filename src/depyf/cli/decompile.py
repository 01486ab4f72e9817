"""`depyf decompile TARGET`."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from depyf.bytecode.versions.known import FACTS
from depyf.cli.archive import unpack_modules
from depyf.cli.atomic import write_whole
from depyf.cli.forms import SHOWS, STANDARD
from depyf.cli.locate import NotFound as NothingFound
from depyf.cli.outcome import decompile_found
from depyf.cli.pieces import pieces_of, written
from depyf.cli.problems import Failed, NotFound, Usage, with_place
from depyf.cli.target import (
    Archive,
    Class,
    Folder,
    Found,
    Function,
    Module,
    Named,
    PycFile,
    SourceFile,
    Target,
    parse_target,
    resolve,
)
from depyf.decompiler.pipeline.table import OPTIONAL, PASSES
from depyf.decompiler.stripped import decompilable
from depyf.errors import DecompilationError

LIMIT = 60.0


@click.command(short_help="Print the source of bytecode.")
@click.argument("target")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Write to this file, or to this folder for a folder of files.",
)
@click.option("--show", type=click.Choice(SHOWS), help="Print an intermediate form instead of the source.")
@click.option(
    "--stop-after",
    metavar="PASS",
    help="Print the result of this pass; with --show steps, stop before the rewrite with this number.",
)
@click.option(
    "--without", multiple=True, metavar="PASS", help="Skip an optional pass. You can repeat it."
)
@click.option(
    "--as-written",
    is_flag=True,
    help="Put the source on the lines of the original, so that tracebacks and debuggers match it.",
)
@click.option(
    "--names-by-use",
    is_flag=True,
    help="Give the variables of stripped or obfuscated code names by their use; a comment lists the old ones.",
)
@click.option("--prove/--no-prove", default=True, help="Print on stderr how far the source is proven (default).")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="Number of processes for a folder.",
)
@click.option(
    "--limit",
    type=click.FloatRange(0.1),
    default=LIMIT,
    show_default=True,
    help="Time limit in seconds for each file of a folder.",
)
@click.option(
    "--python",
    type=click.Choice([f"3.{minor}" for _, minor in sorted(FACTS)]),
    help="The Python that made FILE.pyc, if the file has no valid header.",
)
def decompile(
    target: str,
    out: Path | None,
    show: str | None,
    stop_after: str | None,
    without: tuple[str, ...],
    as_written: bool,
    names_by_use: bool,
    prove: bool,
    jobs: int,
    limit: float,
    python: str | None,
) -> None:
    """Print the source of TARGET from its bytecode alone.

    TARGET is FILE.pyc (CPython 3.7 to 3.15), FILE.py (compiled first), package.module, package.module:name (a function,
    method or class), or a folder of .pyc and .py files. It may also be an archive: a zipapp, wheel, egg, executable of
    PyInstaller or its PYZ. If FILE.pyc has no valid header, depyf finds a version that fits and says so; so it does for
    marshal data in a file of any name. A folder that was decompiled in part goes on: FOLDER.levels.jsonl beside the
    output lists what is done. depyf executes nothing, with one exception: if the module's bytecode does not define the
    name exactly once, depyf imports the module.

    \b
    Exit codes:
      0  decompiled
      1  TARGET or a file in it cannot be decompiled, or -o cannot be written
      2  wrong usage, or TARGET does not exist
    """
    left_out = _left_out(without)
    form = show or stop_after
    _check_options(form, as_written and not prove, as_written, names_by_use)
    try:
        what = _parsed(target, python)
        _check_named(what, names_by_use)
        if isinstance(what, (Folder, Archive)):
            _tree(what, _checked_out(what, out, form), prove, left_out, as_written, jobs, limit)
            return
        resolved = _resolved(target, what) if form else _resolved_or_pieces(target, what, out)
        if form:
            if isinstance(resolved, Class):
                raise Usage("--show and --stop-after need a module or a function: a class has no bytecode of its own")
            _write(_shown(target, resolved, show, stop_after, left_out), out)
        else:
            resolved, head = _named_by_use(resolved) if names_by_use else (resolved, "")
            _write(_source(target, resolved, prove, left_out, as_written, head), out)
    except NothingFound as error:
        raise NotFound(str(error)) from error
    except (DecompilationError, SyntaxError, TypeError) as error:
        raise Failed(with_place(target, error)) from error


def _check_options(form: str | None, lacks_proof: bool, as_written: bool, names_by_use: bool) -> None:
    """Raise Usage for options that exclude each other."""
    if as_written and (form or lacks_proof):
        raise Usage("--as-written needs a proof: it cannot be combined with --show, --stop-after or --no-prove")
    if names_by_use and form:
        raise Usage("--names-by-use cannot be combined with --show or --stop-after")


def _check_named(what: Target, names_by_use: bool) -> None:
    """Raise Usage if names by use are wanted for anything but a file."""
    if names_by_use and not isinstance(what, (PycFile, SourceFile)):
        raise Usage("--names-by-use needs FILE.pyc or FILE.py")


def _parsed(target: str, python: str | None) -> Target:
    """Return the target, with the Python that made it if the user names one."""
    what = parse_target(target)
    if python is None:
        return what
    if not isinstance(what, PycFile):
        raise Usage("--python needs FILE.pyc")
    major, _, minor = python.partition(".")
    return replace(what, version=(int(major), int(minor)))


def _checked_out(what: Folder | Archive, out: Path | None, form: str | None) -> Path:
    """Return the folder for a tree of sources. Raises Usage if there is none, or an option that needs one file."""
    if out is None or form is not None:
        kind = "a folder" if isinstance(what, Folder) else "an archive"
        raise Usage(f"{kind} needs -o FOLDER and cannot be combined with --show or --stop-after")
    return out


def _tree(
    what: Folder | Archive,
    out: Path,
    prove: bool,
    without: frozenset[str],
    as_written: bool,
    count: int,
    limit: float,
) -> None:
    """Decompile a folder, or the modules of an archive."""
    if isinstance(what, Folder):
        _folder(what.path, out, prove, without, as_written, count, limit)
        return
    with tempfile.TemporaryDirectory() as folder:
        unpack_modules(what.path, Path(folder))
        _folder(Path(folder), out, prove, without, as_written, count, limit)


def _left_out(without: tuple[str, ...]) -> frozenset[str]:
    """Return the passes to skip. Raises Usage for a name that is no optional pass."""
    wrong = set(without) - OPTIONAL
    if wrong:
        raise Usage(f"--without accepts {', '.join(sorted(OPTIONAL))}; not {', '.join(sorted(wrong))}")
    return frozenset(without)


def _resolved(target: str, what: PycFile | SourceFile | Named) -> Found:
    """Return the code of a target. Print on stderr whether the module was imported."""
    resolved = resolve(what)
    if isinstance(resolved, (Function, Class)) and resolved.imported:
        click.echo(f"{target}: the module was imported, because its bytecode does not define this name once", err=True)
    return resolved


def _named_by_use(resolved: Found) -> tuple[Found, str]:
    """Return a module whose stripped variables have names by their use, and the comment that lists the old names."""
    if not isinstance(resolved, Module):
        return resolved, ""
    code, head = decompilable(resolved.code)
    return Module(code, resolved.assumed), head


def _source(
    target: str, resolved: Found, prove: bool, without: frozenset[str], as_written: bool, head: str = ""
) -> Iterator[str]:
    outcome = decompile_found(resolved, prove=prove, without=without, as_written=as_written)
    if as_written and isinstance(resolved, Function) and resolved.module is None:
        click.echo(f"{target}: its module is unknown, so depyf cannot put the source on the original lines", err=True)
    assumed = resolved.assumed if isinstance(resolved, Module) else ""
    if outcome.verdict is not None or assumed:
        verdict = "" if outcome.verdict is None else str(outcome.verdict)
        click.echo(f"{target}: {'; '.join(filter(None, (verdict, assumed)))}", err=True)
    yield head + outcome.source


def _resolved_or_pieces(target: str, what: PycFile | SourceFile | Named, out: Path | None) -> Found:
    """Return the code of a target. Of a damaged file, write the whole code objects, if it has any, and raise Failed."""
    try:
        return _resolved(target, what)
    except DecompilationError as error:
        pieces = pieces_of(what, error.reason) if isinstance(what, PycFile) else None
        if pieces is None:
            raise
        _write(iter((pieces.source,)), out)
        raise Failed(f"{with_place(target, error)}; {written(pieces)}") from error


def _shown(
    target: str, resolved: Module | Function, show: str | None, stop_after: str | None, without: frozenset[str]
) -> Iterator[str]:
    """Yield the parts of the output of `--show` and `--stop-after`."""
    from depyf.cli.shown import neutral, show_after, show_bytecode, show_steps
    from depyf.cli.stages import show_page

    if show == "html":
        if stop_after is not None:
            raise Usage("--show html shows all passes and cannot be combined with --stop-after")
        return iter((show_page(target, resolved, without),))
    code = neutral(resolved)
    if show == "bytecode":
        return show_bytecode(code)
    if show == "steps":
        if stop_after is not None and not stop_after.isdecimal():
            raise Usage("--show steps needs the number of a rewrite: --stop-after 3")
        return show_steps(code, int(stop_after or 0), without)
    passes = STANDARD.get(show or "", ())
    if stop_after is not None:
        names = [registered.name for registered in PASSES]
        if stop_after not in names:
            raise Usage(f"--stop-after accepts one of {', '.join(names)}; not {stop_after}")
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

    from depyf.cli.folder import FAILED, Job, Report, convert_all, jobs_of, summary
    from depyf.cli.journal import Journal

    start = time.perf_counter()
    jobs = jobs_of(folder, out, prove=prove, without=without, as_written=as_written)
    journal = Journal(folder, out)
    kept = {job.path: report for job in jobs if (report := journal.earlier(job)) is not None}
    waiting = [job for job in jobs if job.path not in kept]
    count = min(count, max(len(waiting), 1))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("decompiling", total=len(jobs), completed=len(kept))

        def done(job: Job, report: Report) -> None:
            progress.update(task, advance=1)
            journal.note(job, report)

        new = {report.path: report for report in convert_all(waiting, count=count, limit=limit, done=done)}
    reports = [kept.get(job.path) or new[job.path] for job in jobs]
    click.echo(summary(folder, reports, time.perf_counter() - start, count, len(kept)))
    failed = sum(report.level == FAILED for report in reports)
    if failed:
        raise Failed(f"{failed} of {len(reports)} files could not be decompiled")
