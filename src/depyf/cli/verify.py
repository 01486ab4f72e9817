"""`depyf verify TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from depyf.cli.locate import NotFound as NothingFound
from depyf.cli.outcome import decompile_found
from depyf.cli.problems import Failed, NotFound, Unproven, Usage, with_place
from depyf.cli.target import Archive, Folder, Module, parse_target, resolve
from depyf.decompiler.module import judge
from depyf.errors import DecompilationError
from depyf.verify.candidate.oracle import Oracle
from depyf.verify.explain import explain
from depyf.verify.level import Level, Verdict

LEVELS = ("EXACT", "EQUIVALENT")


@click.command(short_help="Prove that a source is equivalent to bytecode.")
@click.argument("target")
@click.argument("candidate", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--at-least",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="EQUIVALENT",
    show_default=True,
    help="Exit with code 3 below this level.",
)
@click.option(
    "--pythons",
    multiple=True,
    metavar="FOLDER",
    help="Search this folder first for interpreters of other versions. You can repeat it.",
)
def verify(target: str, candidate: Path | None, at_least: str, pythons: tuple[str, ...]) -> None:
    """Print how far a source is proven equivalent to TARGET, and show the first difference.

    The source is the file CANDIDATE if TARGET is a module; without CANDIDATE, depyf decompiles TARGET. The listings of
    both are printed side by side, around the first difference. Nothing is executed, with the same exception as in
    `depyf decompile`.

    \b
    Exit codes:
      0  proven
      1  TARGET cannot be decompiled, or CANDIDATE cannot be read
      2  wrong usage, or TARGET does not exist
      3  not proven, or below the level of --at-least
    """
    with Oracle(folders=pythons) as oracle:
        try:
            verdict = _verdict(target, candidate, oracle)
            text = explain(verdict)
        except NothingFound as error:
            raise NotFound(str(error)) from error
        except (DecompilationError, SyntaxError, TypeError) as error:
            raise Failed(with_place(target, error)) from error
    click.echo(f"{target}: {text}")
    if verdict.level < Level[at_least.upper()]:
        raise Unproven(f"{target} is {verdict.level}, not {at_least.upper()}")


def _verdict(target: str, candidate: Path | None, oracle: Oracle) -> Verdict:
    what = parse_target(target)
    if isinstance(what, (Folder, Archive)):
        kind = "a folder" if isinstance(what, Folder) else "an archive"
        raise Usage(f"TARGET is {kind}: use `depyf decompile TARGET -o OUT`, which prints the level of each file")
    resolved = resolve(what)
    if candidate is None:
        verdict = decompile_found(resolved, prove=True, oracle=oracle).verdict
        assert verdict is not None
        return verdict
    if not isinstance(resolved, Module):
        raise Usage("CANDIDATE is the source of a module, so TARGET must be a module, not a function")
    return judge(resolved.code, _text(candidate), oracle=oracle)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(f"{path}: {error}") from error
