"""`depyf report`: the pages about a dump, for a browser."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import click

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.report.html.build import build_report


@click.command("report")
@click.option("--single-file", is_flag=True, help="Put all into one file, to be sent around.")
@click.option("--open", "opened", is_flag=True, help="Open it in the browser.")
@click.argument("directory", type=click.Path(path_type=Path))
def report(single_file: bool, opened: bool, directory: Path) -> None:
    """Build the report of the dump in DIRECTORY, and print where its first page is.

    It is a folder `report` in DIRECTORY: static files that need no server and no network. Exit code 1 if it cannot be
    written or the dump is broken, 2 if there is no dump.
    """
    try:
        made = build_report(directory, single_file=single_file)
    except FileNotFoundError as error:
        click.echo(f"depyf report: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except (OSError, ValueError) as error:
        click.echo(f"depyf report: {error}", err=True)
        sys.exit(EXIT_FAILED)
    click.echo(str(made.page))
    if opened:
        webbrowser.open(made.page.resolve().as_uri())
