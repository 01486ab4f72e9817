"""`depyf run`: run a program as `python` does and capture everything that torch compiles."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.cli.launch.offered import offered
from depyf.cli.launch.process import end_like, run
from depyf.cli.launch.settings import Settings
from depyf.cli.launch.summary import lines, measured, summarised
from depyf.cli.launch_json import write_launch_json
from depyf.cli.pages import build_pages, get_ready
from depyf.cli.setting import bits_options
from depyf.model.writer import foreign_files, prepared_directory


@click.command(
    "run",
    short_help="Run a program and capture what torch compiles.",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("-m", "module", is_flag=True, help="Run TARGET as a module, as `python -m` does.")
@click.option("-o", "--output", default="depyf_output", type=click.Path(path_type=Path), help="Directory of the dump.")
@click.option("--backend", default="", help="Use this backend instead of the program's.")
@click.option("--log-bytecode", is_flag=True, help="Also write bytecode listings, as --html does.")
@click.option("--html/--no-html", default=True, help="Build the report for the browser at the end (the default).")
@click.option("--open", "opened", is_flag=True, help="Open the report in the browser at the end.")
@click.option("--only", default="", metavar="PATTERN", help="Capture only functions whose name or file matches.")
@click.option("--no-dump-kernels", is_flag=True, help="Leave out Inductor's modules.")
@click.option("--debug", is_flag=True, help="Pause before compiled code first runs, and run it in the dumped files.")
@click.option("--profile", is_flag=True, help="Measure each line, print the most expensive.")
@click.option("--against-eager", is_flag=True, help="With --profile: compare with uncompiled steps.")
@click.option("--compile-times", is_flag=True, help="Measure what each line costs in each stage of the compiler.")
@bits_options
@click.option("--keep-trace", is_flag=True, help="Keep torch's own trace in the dump.")
@click.option("--stack-after", default=60.0, metavar="SECONDS", help="Write the Python stack of slower compiles [60].")
@click.option("--all", "all_files", is_flag=True, help="Keep every file of a large dump, and pack none.")
@click.option("--vscode", is_flag=True, help="Write .vscode/launch.json into the dump.")
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run_command(
    module: bool,
    output: Path,
    backend: str,
    log_bytecode: bool,
    html: bool,
    opened: bool,
    only: str,
    no_dump_kernels: bool,
    debug: bool,
    profile: bool,
    against_eager: bool,
    compile_times: bool,
    bits: dict[str, Any],
    keep_trace: bool,
    stack_after: float,
    all_files: bool,
    vscode: bool,
    target: str,
    arguments: tuple[str, ...],
) -> None:
    """Run the script TARGET with ARGUMENTS as `python` does, and capture what torch compiles.

    The program runs in an interpreter of its own, with the streams, directory and environment of this process. depyf
    also captures its child processes, each in a folder `process_<n>` or, under torchrun, `rank_<n>`. It also reports on
    a program that crashed or was killed. `bits` are recorded only with --bits. The exit code is the program's own; 1 if
    the directory cannot be written, 2 if there is no such script, backend or setting.
    """
    _end_without_script("-" if module else target)
    try:
        directory = _own_directory(output)
        if vscode:
            write_launch_json(directory, target, arguments, is_module=module, cwd=Path.cwd())
    except OSError as error:
        click.echo(f"depyf run: {error}", err=True)
        sys.exit(EXIT_FAILED)
    began = time.time()
    settings = Settings(
        str(directory),
        os.getpid(),
        backend,
        log_bytecode,
        only=only,
        kernels=not no_dump_kernels,
        debug=debug,
        profile=profile or against_eager,
        against_eager=against_eager,
        keep_trace=keep_trace,
        compile_times=compile_times,
        stack_after=stack_after,
        listings=html,
        all_files=all_files,
        **bits,
    )
    called = [*(["-m"] if module else []), target, *arguments]
    status = run(called, settings, meanwhile=get_ready if html else lambda: None)
    summary = _told(directory, output, began, settings, html, opened)
    for line in (*summary, *offered(directory, output, began, settings, called)):
        click.echo(line, err=True)
    end_like(status)


def _told(directory: Path, output: Path, began: float, settings: Settings, html: bool, opened: bool) -> Iterator[str]:
    """Build the report, if it is wanted, and yield the lines about the run."""
    summary = summarised(directory, began)
    report_lines = lines(summary, directory, output, settings.only)
    if html and (summary.places or summary.unfinished):
        report_lines[-1] = f"{build_pages(directory, output, since=began, opened=opened)}; files {report_lines[-1]}"
    yield from (f"depyf: {line}" for line in report_lines)
    yield from measured(summary, settings)


def _end_without_script(target: str) -> None:
    """End the command if there is no such script; `-` is stdin."""
    if target != "-" and not os.path.exists(target):
        click.echo(f"depyf run: there is no script {target!r}", err=True)
        sys.exit(EXIT_USAGE)


def _own_directory(called: Path) -> Path:
    """Create the directory of a dump and return it. End the command if it contains files that are not depyf's.

    Raises:
        DumpDirectoryError: the directory cannot be written.
    """
    directory = prepared_directory(called)
    foreign = foreign_files(directory)
    if foreign:
        click.echo(f"depyf run: {called} is not a dump and contains {', '.join(foreign)}; choose another -o", err=True)
        sys.exit(EXIT_USAGE)
    return directory
