"""`depyf diff`: the changes between two runs of a program."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from depyf.cli.exit_codes import EXIT_DIFFERENT, EXIT_DONE, EXIT_FAILED, EXIT_USAGE
from depyf.findings import SEVERITIES, Finding, Severity, findings
from depyf.links.profile.comparison import slower
from depyf.links.profile.files import read_profile
from depyf.trace.job.files import TraceError, find, is_dump
from depyf.trace.job.reporting import Options, dump_jobs
from depyf.views.cache_changes import ASPECT as CACHES
from depyf.views.cache_changes import cache_changes
from depyf.views.comparison import ASPECTS, Change, changes
from depyf.views.comparison_markdown import comment, only_in_second
from depyf.views.html.process import Process, processes

EVERY = (*ASPECTS, CACHES)
"""The aspects that can be compared. Caches differ from run to run, so they are compared only on request."""

ALONE = "program"
"""The label of a run's process if there is only one."""

MOST_DETAILS = 12
"""Lines shown below each change by default."""


@click.command("diff", short_help="Show what changed between two dumps of a program.")
@click.option("--of", "aspects", multiple=True, type=click.Choice(EVERY), help="Compare only this; you can repeat it.")
@click.option("--all", "everything", is_flag=True, help=f"Show all lines that differ, not only {MOST_DETAILS}.")
@click.option("--markdown", is_flag=True, help="Print a comment for a pull request, with folded sections.")
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    help="Exit with 3 only if NEW has findings of this severity or a worse one that OLD has not.",
)
@click.option("--allow", default=0, metavar="N", help="With --fail-on: allow N such findings [0].")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; only the exit code shows the result.")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
def diff(
    aspects: tuple[str, ...],
    everything: bool,
    markdown: bool,
    fail_on: Severity | None,
    allow: int,
    quiet: bool,
    old: Path,
    new: Path,
) -> None:
    """Show what changed between the dumps OLD and NEW: functions, recompiles, breaks, guards, graphs, kernels.

    `--of caches` explains the cache misses of NEW by the cache entries of OLD. OLD and NEW may also be traces that
    TORCH_TRACE wrote: a file, or a folder with one file for each rank. Guards are compared only between two dumps. If
    both runs used `--profile`, the command also shows which lines got slower by more than the steps of a run vary. It
    ignores other times, paths, line numbers and the counters of a process.

    Exit code 0 if nothing changed, 3 if something did, 1 if a dump is broken, 2 if there is none. With --fail-on, 3
    only if there are new findings, which it names on stderr.
    """
    with tempfile.TemporaryDirectory() as folder:
        before, after = (_processes(_dump(path, Path(folder, name))) for path, name in ((old, "old"), (new, "new")))
        differences = [
            (process, change)
            for process, those in _changes(before, after, CACHES in aspects)
            for change in those
            if not aspects or change.aspect in aspects
        ]
        is_told = fail_on is not None or (markdown and not quiet)
        old_and_new = (_findings(before), _findings(after)) if is_told else ([], [])
    if markdown and not quiet:
        named = [("" if process == ALONE else process, change) for process, change in differences]
        click.echo(comment(named, *old_and_new), nl=False)
    elif not quiet:
        last = ""
        for process, change in differences:
            last = _tell(process, change, last, everything)
        click.echo(_summary([change for _, change in differences]))
    sys.exit(_exit_code(*old_and_new, fail_on, allow) if fail_on is not None else EXIT_DIFFERENT if differences else 0)


def _exit_code(old: list[Finding], new: list[Finding], severity: Severity, allow: int) -> int:
    """Return the exit code for new findings of a severity or a worse one; name them if there are too many."""
    counted_ones = SEVERITIES[: SEVERITIES.index(severity) + 1]
    new_findings = [finding for finding in only_in_second(old, new) if finding.severity in counted_ones]
    if len(new_findings) <= allow:
        return EXIT_DONE
    for finding in new_findings:
        click.echo(f"new: {finding.severity}: {finding.line}", err=True)
    return EXIT_DIFFERENT


def _dump(path: Path, folder: Path) -> Path:
    """Return the directory of a dump. For a trace, make a dump in `folder` and return its directory."""
    if is_dump(str(path)):
        return path
    try:
        return dump_jobs(find([str(path)]), folder, Options(every_rank=True))[0].directory
    except TraceError as error:
        click.echo(f"depyf diff: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except OSError as error:
        click.echo(f"depyf diff: {error}", err=True)
        sys.exit(EXIT_FAILED)


def _changes(before: dict[str, Process], after: dict[str, Process], caches: bool) -> list[tuple[str, list[Change]]]:
    labelled = []
    for label in dict.fromkeys((*before, *after)):
        if label not in before or label not in after:
            where = "no more" if label in before else "new"
            labelled.append((label, [Change(label, "functions", f"{where}: this process is in only one of the runs")]))
        else:
            before_process, other = before[label], after[label]
            missed = cache_changes(before_process.run, other.run) if caches else []
            labelled.append((label, [*changes(before_process.run, other.run), *_times(before_process, other), *missed]))
    return labelled


def _findings(runs_by_label: dict[str, Process]) -> list[Finding]:
    return [finding for process in runs_by_label.values() for finding in findings(process.run.session)]


def _times(before: Process, after: Process) -> list[Change]:
    """Return the lines that got slower, if both runs were profiled."""
    old, new = read_profile(before.run.directory), read_profile(after.run.directory)
    if old is None or new is None:
        return []
    return [Change("lines that got slower", "times", str(row)) for row in slower(old, new)]


def _processes(directory: Path) -> dict[str, Process]:
    try:
        by_label = {process.label: process for process in processes(directory, 0.0)}
    except (OSError, ValueError) as error:
        click.echo(f"depyf diff: {error}", err=True)
        sys.exit(EXIT_FAILED)
    if not by_label:
        click.echo(f"depyf diff: there is no dump in {directory}", err=True)
        sys.exit(EXIT_USAGE)
    return by_label


def _tell(process: str, change: Change, last: str, everything: bool) -> str:
    subject = change.subject if process == ALONE else f"{process}: {change.subject}"
    if subject != last:
        click.echo(subject)
    click.echo(f"  {change.aspect}: {change.text}")
    shown = change.details if everything else change.details[:MOST_DETAILS]
    for line in shown:
        click.echo(f"    {line}")
    if len(shown) < len(change.details):
        click.echo(f"    ... and {len(change.details) - len(shown)} more lines (--all)")
    return subject


def _summary(differences: list[Change]) -> str:
    if not differences:
        return "nothing changed"
    counts = [(aspect, sum(change.aspect == aspect for change in differences)) for aspect in EVERY]
    return f"{len(differences)} changes: " + ", ".join(f"{count} of {aspect}" for aspect, count in counts if count)
