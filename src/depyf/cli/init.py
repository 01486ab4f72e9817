"""`depyf init`: write the files with which an editor runs depyf."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from depyf.cli.exit_codes import EXIT_FAILED
from depyf.model.writer import write_whole

FOLDER = Path(".vscode")
TASKS = "tasks.json"
LABEL = "depyf"
DUMP = "${workspaceFolder}/depyf_output"
MATCHER: dict[str, Any] = {
    "owner": "depyf",
    "source": "depyf",
    "fileLocation": ["autoDetect", "${workspaceFolder}"],
    "pattern": {
        "regexp": r"^(.+?):(\d+): (error|warning|info): (.*) \[([\w-]+)\]$",
        "file": 1,
        "line": 2,
        "severity": 3,
        "message": 4,
        "code": 5,
    },
}
"""How VS Code reads the lines of `depyf show --lines`."""


def tasks() -> list[dict[str, Any]]:
    """Return the tasks: run the open file, show its findings as problems, open the report."""
    python = "${command:python.interpreterPath}"
    run = ["-m", "depyf", "run", "-o", DUMP, "${file}"]
    quiet = {"reveal": "silent", "panel": "shared"}
    return [
        {"label": f"{LABEL}: run this file", "type": "process", "command": python, "args": run, "problemMatcher": []},
        {
            "label": f"{LABEL}: findings",
            "detail": "Run the open file, and show what torch.compile did as problems at the lines",
            "type": "process",
            "command": python,
            "args": ["-m", "depyf", "show", "--lines", DUMP],
            "dependsOn": f"{LABEL}: run this file",
            "problemMatcher": MATCHER,
            "presentation": quiet,
        },
        {
            "label": f"{LABEL}: report",
            "type": "process",
            "command": python,
            "args": ["-m", "depyf", "report", "--single-file", "--open", DUMP],
            "problemMatcher": [],
            "presentation": quiet,
        },
    ]


@click.command("init", short_help="Write the files with which VS Code runs depyf.")
@click.argument("editor", type=click.Choice(["vscode"]))
@click.option(
    "--directory", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False), help="The project."
)
def init(editor: str, directory: Path) -> None:
    """Add tasks to .vscode/tasks.json: run the open file, show its findings at their lines, open the report.

    Tasks of other names stay. The exit code is 1 if the file cannot be read as JSON without comments, or not written.
    """
    path = directory / FOLDER / TASKS
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, with_tasks(text))
    except ValueError as error:
        click.echo(f"depyf init: {path} is no JSON that can be changed ({error}); add these tasks by hand:", err=True)
        click.echo(json.dumps(tasks(), indent=4))
        sys.exit(EXIT_FAILED)
    except OSError as error:
        click.echo(f"depyf init: {path} cannot be written: {error.strerror or error}", err=True)
        sys.exit(EXIT_FAILED)
    click.echo(f"{path}: run the task '{LABEL}: findings' on an open file")


def with_tasks(text: str) -> str:
    """Return the text of a tasks.json with depyf's tasks, in place of earlier ones of their names.

    Raises:
        ValueError: the text is not JSON, or not a tasks.json.
    """
    content = json.loads(text) if text.strip() else {"version": "2.0.0"}
    if not isinstance(content, dict) or not isinstance(content.get("tasks", []), list):
        raise ValueError("it has no list of tasks")
    labels = {task["label"] for task in tasks()}
    kept = [task for task in content.get("tasks", []) if not (isinstance(task, dict) and task.get("label") in labels)]
    return json.dumps({**content, "tasks": [*kept, *tasks()]}, indent=4) + "\n"
