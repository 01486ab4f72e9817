"""How a command ends that did not do what it was asked: one line on stderr and an exit code."""

from __future__ import annotations

import click

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_UNPROVEN, EXIT_USAGE


class Failed(click.ClickException):
    """The work itself failed."""

    exit_code = EXIT_FAILED


class NotFound(click.ClickException):
    """The target leads to nothing."""

    exit_code = EXIT_USAGE


class Usage(click.ClickException):
    """Options that do not go together, or values that an option does not take."""

    exit_code = EXIT_USAGE


class Unproven(click.ClickException):
    """Less is proven than was asked for."""

    exit_code = EXIT_UNPROVEN
