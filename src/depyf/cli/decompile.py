"""`depyf decompile TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from depyf.cli.entry import EXIT_FAILED, EXIT_USAGE
from depyf.cli.target import TargetNotFound, parse_target, source_of
from depyf.errors import DecompilationError


@click.command(short_help="Print the source of bytecode.")
@click.argument("target")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write there instead of printing.")
def decompile(target: str, out: Path | None) -> None:
    """Print the source of TARGET, from its bytecode alone.

    TARGET is FILE.pyc (of CPython 3.7 to 3.15; never executed), FILE.py (compiled first, not executed), or
    package.module:function (imported first).

    \b
    Exit codes:
      0  decompiled
      1  what TARGET names cannot be decompiled, or -o cannot be written
      2  wrong usage, or TARGET leads to nothing
    """
    try:
        source = source_of(parse_target(target))
    except TargetNotFound as error:
        raise _ended(str(error), EXIT_USAGE) from error
    except (DecompilationError, SyntaxError, TypeError) as error:
        raise _ended(f"{target}: {error}", EXIT_FAILED) from error
    if out is None:
        click.echo(source.rstrip("\n"))
        return
    try:
        out.write_text(source, encoding="utf-8")
    except OSError as error:
        raise _ended(f"{out}: {error.strerror}", EXIT_FAILED) from error


def _ended(message: str, exit_code: int) -> click.ClickException:
    problem = click.ClickException(message)
    problem.exit_code = exit_code
    return problem
