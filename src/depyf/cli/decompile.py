"""`depyf decompile TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from depyf.cli.problems import Failed, NotFound
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
        raise NotFound(str(error)) from error
    except (DecompilationError, SyntaxError, TypeError) as error:
        raise Failed(f"{target}: {error}") from error
    if out is None:
        click.echo(source.rstrip("\n"))
        return
    try:
        out.write_text(source, encoding="utf-8")
    except OSError as error:
        raise Failed(f"{out}: {error.strerror}") from error
