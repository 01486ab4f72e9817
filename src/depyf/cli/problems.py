"""Errors of commands: one line on stderr and an exit code."""

from __future__ import annotations

import click

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_UNPROVEN, EXIT_USAGE


class Failed(click.ClickException):
    """The command failed."""

    exit_code = EXIT_FAILED


class NotFound(click.ClickException):
    """The target does not exist."""

    exit_code = EXIT_USAGE


class Usage(click.ClickException):
    """Invalid values or combinations of options."""

    exit_code = EXIT_USAGE


class Unproven(click.ClickException):
    """The proof is weaker than requested."""

    exit_code = EXIT_UNPROVEN


def with_place(target: str, error: Exception) -> str:
    """Return the message of an error with the target in front, once."""
    message = str(error)
    return message if message.startswith(f"{target}:") else f"{target}: {message}"
