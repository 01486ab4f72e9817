"""`depyf fix`: try edits that remove findings on the program itself, and write those that help as a patch."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.fix.plan import PYTEST
from depyf.model.user_source import OWN_PACKAGES, is_installed

if TYPE_CHECKING:
    from depyf.fix.search import Result
    from depyf.fix.tries import Program, Tries

MOST_COPIED = 200 * 2**20
"""The most bytes of a working directory that is copied for the runs."""
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "venv", "__pycache__", "node_modules", ".hg", "*.pyc", "depyf_output"
)


@click.command(
    "fix",
    short_help="Try edits for the findings; write those that help.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("-m", "module", is_flag=True, help="Run TARGET as a module, as `python -m` does.")
@click.option("--backend", default="", help="Use this backend instead of the program's.")
@click.option("--apply", "applied", is_flag=True, help="Write the edits that help into your files.")
@click.option(
    "-o",
    "--output",
    default="depyf_output",
    type=click.Path(path_type=Path),
    help="The dump of `depyf run` whose findings get the results [depyf_output].",
)
@click.option("--patch", default="depyf_fix.patch", type=click.Path(path_type=Path), help="The file of the patch.")
@click.option(
    "--contract",
    type=click.Path(path_type=Path),
    help="Write a test here that fails if the program compiles worse again than with the edits.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and no table.")
@click.option("--max-tries", default=40, metavar="N", help="The most runs of the program [40].")
@click.option("--budget", default=1800.0, metavar="SECONDS", help="Begin no run after this time [1800].")
@click.option("--limit", default=600.0, metavar="SECONDS", help="End a run that takes longer [600].")
@click.option("--calls", default=50, metavar="N", help="Compare the results of the first N calls [50].")
@click.option("--stop", "stops", is_flag=True, help="End each run after these calls.")
@click.option("--only", default="", metavar="FINDING", help="Only findings of this kind, or at this FILE:LINE.")
@click.option(
    "--package", "packages", multiple=True, metavar="NAME", help="Also edit the files of this installed package."
)
@click.option("--compile-time", "lowers_time", is_flag=True, help="Try edits that lower the compile time instead.")
@click.option("--in-place", is_flag=True, help="Run in your working directory, and not in a copy of it.")
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def fix_command(
    module: bool,
    backend: str,
    applied: bool,
    output: Path,
    patch: Path,
    contract: Path | None,
    as_json: bool,
    max_tries: int,
    budget: float,
    limit: float,
    calls: int,
    stops: bool,
    only: str,
    packages: tuple[str, ...],
    lowers_time: bool,
    in_place: bool,
    target: str,
    arguments: tuple[str, ...],
) -> None:
    """Run the script TARGET with ARGUMENTS again and again, with edits for its findings, and tell which help.

    TARGET may be a test of pytest, such as `tests/test_model.py::test_step`.

    Each edit is tried alone and with the others. It counts only if the exit code, the output and the results of
    compiled code are those of the program as it is. The runs read edited texts under the paths of your files, which
    stay as they are without --apply. They run in a copy of the working directory, so that what they write is not lost.

    The exit code is 0 if edits help or nothing is to be done, 1 if no edit helps, 2 if the program cannot be run.
    """
    module, target, arguments = _called(module, target, arguments)
    try:
        from depyf.fix.search import left
        from depyf.fix.tries import Program, Tries
    except ImportError as error:
        click.echo(f"depyf fix: it needs LibCST: pip install libcst ({error})", err=True)
        sys.exit(EXIT_FAILED)
    OWN_PACKAGES.update(packages)
    path = Path(tempfile.mkdtemp(prefix="depyf-fix-"))
    try:
        kept = None if in_place else _copied(path)
        directory = Path.cwd() if kept is None else path / "run"
        script = target if module else str(Path(target).resolve())
        program = Program(script, arguments, module, directory, calls, stops, limit, kept, backend)
        tries = Tries(program, path / "tries", forks=not lowers_time)
        if lowers_time:
            _lower_time(tries, max_tries, budget, patch, as_json=as_json, applied=applied)
        result = _searched(tries, max_tries, budget, only, as_json)
        text = _report(result, patch, as_json)
        _note(output, result)
        if contract is not None:
            _contract(program, result, contract)
        if applied:
            _apply(result.texts)
    finally:
        shutil.rmtree(path, ignore_errors=True)
    if result.plain.problem:
        sys.exit(EXIT_USAGE)
    sys.exit(0 if text or not left(result) else EXIT_FAILED)


def _called(is_module: bool, target: str, arguments: tuple[str, ...]) -> tuple[bool, str, tuple[str, ...]]:
    """Return the call of a program, as a module for a test of pytest. End the command if there is no such script."""
    if not is_module and "::" in target:
        return True, PYTEST, (target, *arguments)
    if not is_module and not os.path.isfile(target):
        click.echo(f"depyf fix: there is no script {target!r}", err=True)
        sys.exit(EXIT_USAGE)
    return is_module, target, arguments


def _searched(tries: Tries, most: int, budget: float, only: str, is_quiet: bool) -> Result:
    from depyf.fix.search import Search

    try:
        return Search(tries, most, budget, only, lambda text: _tell(text, is_quiet)).search()
    finally:
        tries.forget()


def _report(result: Result, patch: Path, as_json: bool) -> str:
    """Write the patch and `fix.json`, print the table, and return the patch's text."""
    from depyf.fix import told

    text = told.patch_of(result, Path.cwd())
    if text:
        patch.write_bytes(text.encode("utf-8"))
    report = told.data(result, text)
    Path("fix.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for line in [json.dumps(report, indent=1)] if as_json else told.lines(result, str(patch)):
        click.echo(line)
    return text


def _contract(program: Program, result: Result, file: Path) -> None:
    """Write the test of the contract, if edits are kept."""
    from depyf.fix.gained import contract_test

    if result.patched is None:
        click.echo(f"depyf fix: no edit is kept, so {file} is not written", err=True)
        return
    try:
        text = contract_test(program, result.patched, file)
    except ValueError as error:
        click.echo(f"depyf fix: {file} is not written: {error}", err=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _note(output: Path, result: Result) -> None:
    """Write what was tried into the dump of an earlier run, if there is one that shows the same findings."""
    from depyf.cli.pages import build_pages
    from depyf.fix.noted import note
    from depyf.model.index_reader import has_index

    if not has_index(output):
        return
    try:
        is_noted = note(output, result)
    except (OSError, ValueError) as error:
        click.echo(f"depyf fix: the results are not in {output}: {error}", err=True)
        return
    if is_noted and (output / "report").is_dir():
        build_pages(output, output, since=0.0, opened=False)


def _lower_time(tries: Tries, most: int, budget: float, patch: Path, *, as_json: bool, applied: bool) -> NoReturn:
    """Try what lowers the compile time, and end the command."""
    from depyf.cli.fix_savings import run_savings

    texts, code = run_savings(tries, most, budget, patch, lambda text: _tell(text, as_json), as_json=as_json)
    if applied:
        _apply(texts)
    sys.exit(code)


def _tell(text: str, is_quiet: bool) -> None:
    if not is_quiet and sys.stderr.isatty():
        click.echo(f"depyf fix: running {text}", err=True)


def _copied(scratch: Path) -> Path | None:
    """Return a copy of the working directory, or None if it is too large to be copied."""
    here = Path.cwd()
    size = 0
    for folder, names, files in os.walk(here):
        names[:] = [name for name in names if name not in (".git", ".venv", "venv", "__pycache__", "node_modules")]
        size += sum(os.lstat(os.path.join(folder, file)).st_size for file in files)
        if size > MOST_COPIED:
            click.echo("depyf fix: the working directory is large, so the runs use it and not a copy", err=True)
            return None
    shutil.copytree(here, scratch / "copy", symlinks=True, ignore=NOT_COPIED)
    return scratch / "copy"


def _apply(texts: dict[str, str]) -> None:
    for path, text in texts.items():
        if is_installed(path):
            click.echo(f"not written, since it is of an installed package; the patch has it: {path}")
            continue
        Path(path).write_bytes(text.encode("utf-8"))
        click.echo(f"written: {os.path.relpath(path)}")
