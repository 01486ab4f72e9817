"""`depyf skill`: print the skill for coding agents, or write it to the project's folder for skills."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

import click

from depyf.cli.exit_codes import EXIT_FAILED

NAME = "depyf"
FILE = "SKILL.md"
FOLDERS = (Path(".claude", "skills"), Path(".agents", "skills"))
"""The folders in which agents look for skills. The last one is the common one."""
_OWN = f"name: {NAME}\n"


def skill_text() -> str:
    """Return the text of the skill."""
    return resources.files("depyf.cli.skill").joinpath(FILE).read_text(encoding="utf-8")


@click.command("skill", short_help="Print or install the skill for coding agents.")
@click.option(
    "--install",
    "folder",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    type=str,
    help="Write it to DIR/depyf/SKILL.md; DIR is .claude/skills if there is a .claude, else .agents/skills.",
)
def skill(folder: str | None) -> None:
    """Print a skill that teaches coding agents the loop run, show, fix, expect.

    With --install it is written to the project's folder for skills, and the path is printed. The exit code is 1 if the
    file cannot be written, or if another skill of that name is there.
    """
    if folder is None:
        click.echo(skill_text(), nl=False)
        return
    path = (Path(folder) if folder else _folder()) / NAME / FILE
    try:
        if path.exists() and _OWN not in path.read_text(encoding="utf-8", errors="replace"):
            click.echo(f"depyf skill: {path} is another skill; remove it, or choose another DIR", err=True)
            sys.exit(EXIT_FAILED)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(skill_text(), encoding="utf-8")
    except OSError as error:
        click.echo(f"depyf skill: {path} cannot be written: {error.strerror or error}", err=True)
        sys.exit(EXIT_FAILED)
    click.echo(str(path))


def _folder() -> Path:
    """Return the folder for skills of the project in the working directory."""
    return next((skill_folder for skill_folder in FOLDERS if skill_folder.parent.is_dir()), FOLDERS[-1])
