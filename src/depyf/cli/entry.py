"""The entry point of the `depyf` script."""

from __future__ import annotations

import importlib.util
import sys

from depyf.cli.exit_codes import EXIT_USAGE


def main() -> None:
    """Run the command line, or print which packages it needs.

    Exit codes of every command: 0 success; 1 the command failed; 2 wrong usage, or the target does not exist.
    """
    if importlib.util.find_spec("click") is None:
        print("depyf: the command line needs click: pip install click rich jinja2", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    from depyf.cli.commands import depyf

    depyf(prog_name="depyf")
