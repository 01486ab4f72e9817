"""The group of all commands, each imported when it is used."""

from __future__ import annotations

import difflib
import os
from importlib import import_module
from pathlib import Path

import click

from depyf.version import __version__


def _commands() -> dict[str, str]:
    """Return the module and the function of each command, by its name, from the texts of this package's files.

    A command is found by its decorator. Importing all files for one command would take longer than most commands.
    """
    commands = {}
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        _, decorator, rest = path.read_text(encoding="utf-8").partition("\n@click.command(")
        if decorator:
            function = rest.partition("\ndef ")[2].partition("(")[0]
            module = ".".join(path.relative_to(folder).with_suffix("").parts)
            commands[function.removesuffix("_command").replace("_", "-")] = f"{module}:{function}"
    return commands


COMMANDS = _commands()
"""The module of this package that has each command, and the command's name there."""

WELCOME = """\
depyf shows what torch.compile did with your program, and what to change.

  depyf run train.py         run it as `python train.py`; print what to fix, and
                             write a report to depyf_output/report/index.html
  depyf show depyf_output    show the findings and the compiles in the terminal
  depyf fix train.py         try edits for what it found; write those that help

`depyf run` says at its end why a graph broke or a function was compiled again.
  depyf show depyf_output --line train.py:31   the kernels that a line became
  depyf show depyf_output --costs              the seconds of each compile
  depyf run --profile train.py                 the costliest lines of a step

If something does not work: depyf doctor
All commands: depyf --help. Options of one command: depyf run --help
"""
"""The text of `depyf` without arguments."""


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name.

        Raises:
            click.UsageError: there is no such command; the message suggests the nearest one.
        """
        name = str(args[0])
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"there is no command {name!r}.{_suggestion(name)}", ctx)
        return super().resolve_command(ctx, args)


def _suggestion(name: str) -> str:
    """Return what the user may have meant, or ""."""
    if os.path.isdir(name):
        return f" Did you mean `depyf show {name}`?"
    if name.endswith(".py") or os.path.isfile(name):
        return f" Did you mean `depyf run {name}`?"
    near = difflib.get_close_matches(name.lower(), COMMANDS, n=2)
    return f" Did you mean {' or '.join(f'`depyf {command}`' for command in near)}?" if near else ""


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.pass_context
def depyf(ctx: click.Context) -> None:
    """Open the black box of torch.compile: run a program and see what it compiles, decompile bytecode, and prove it."""
    if ctx.invoked_subcommand is None:
        click.echo(WELCOME, nl=False)
