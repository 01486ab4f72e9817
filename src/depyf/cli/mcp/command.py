"""`depyf mcp`: start the server."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from depyf.cli.exit_codes import EXIT_FAILED


@click.command("mcp", short_help="Serve runs to a coding agent, over stdio (MCP).")
@click.option(
    "--directory",
    default=".",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The working directory; the server reads and writes nothing outside of it.",
)
def mcp(directory: Path) -> None:
    """Serve the Model Context Protocol over stdin and stdout, for coding agents.

    The tools run a program under depyf, show what it compiled, show what a line became in a stage of the compiler,
    explain guards, try fixes, and compare two runs. The exit code is 1 if the package mcp is missing.
    """
    try:
        from depyf.cli.mcp.server import server_of
    except ImportError as error:
        click.echo(f"depyf mcp: it needs the package mcp: pip install 'mcp>=2' ({error})", err=True)
        sys.exit(EXIT_FAILED)
    server_of(directory).run("stdio")
