"""The group of all commands."""

from __future__ import annotations

import click

from depyf.cli.coverage import coverage
from depyf.cli.decompile import decompile
from depyf.cli.diff import diff
from depyf.cli.doctor import doctor
from depyf.cli.report import report
from depyf.cli.run import run_command
from depyf.cli.show import show
from depyf.cli.verify import verify
from depyf.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def depyf() -> None:
    """Open the black box of torch.compile: run a program and see what it makes, decompile bytecode, and prove it."""


depyf.add_command(run_command)
depyf.add_command(report)
depyf.add_command(show)
depyf.add_command(diff)
depyf.add_command(decompile)
depyf.add_command(verify)
depyf.add_command(coverage)
depyf.add_command(doctor)
