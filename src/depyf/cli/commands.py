"""The group of all commands, each imported when it is used."""

from __future__ import annotations

from importlib import import_module

import click

from depyf.version import __version__

COMMANDS = {
    "run": "run:run_command",
    "report": "report:report",
    "show": "show:show",
    "diff": "diff:diff",
    "decompile": "decompile:decompile",
    "verify": "verify:verify",
    "coverage": "coverage:coverage",
    "doctor": "doctor:doctor",
    "kernel": "kernel:kernel",
    "fix": "fix:fix_command",
}
"""The module of this package that has each command, and the command's name there."""


class Commands(click.Group):
    """A group whose commands are imported by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command = getattr(import_module(f"depyf.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def depyf() -> None:
    """Open the black box of torch.compile: run a program and see what it compiles, decompile bytecode, and prove it."""
