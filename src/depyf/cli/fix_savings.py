"""`depyf fix --compile-time`: try edits that may lower the compile time, and write those that help as a patch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE

if TYPE_CHECKING:
    from depyf.fix.tries import Tries

FILE = "savings.json"


def run_savings(
    tries: Tries, most: int, seconds: float, patch: Path, tell: Callable[[str], None], *, as_json: bool
) -> tuple[dict[str, str], int]:
    """Search, print what was tried, and write the patch and `savings.json`.

    Args:
        tries: runs the program with edited texts.
        most: the largest number of runs.
        seconds: the time limit for all runs.
        patch: the path of the patch.
        tell: receives a line about each run.
        as_json: whether to print JSON instead of a table.

    Returns:
        The texts of the files with all that helps, and the exit code.
    """
    from depyf.fix import savings_told, told
    from depyf.fix.savings import SavingsSearch

    result = SavingsSearch(tries, most, seconds, tell).search()
    text = told.patch_of_texts(result.texts, Path.cwd())
    if text:
        patch.write_text(text, encoding="utf-8")
    content = json.dumps(savings_told.data(result, text), indent=1)
    Path(FILE).write_text(content + "\n", encoding="utf-8")
    for line in [content] if as_json else savings_told.lines(result, str(patch)):
        click.echo(line)
    if result.plain.outcome.problem:
        return {}, EXIT_USAGE
    return result.texts, 0 if text or not result.tried else EXIT_FAILED
