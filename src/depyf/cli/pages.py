"""Build the report at the end of `depyf run`, without changing the program's exit code."""

from __future__ import annotations

import importlib
import webbrowser
from pathlib import Path


def get_ready() -> None:
    """Import the modules that build the report, while the program runs."""
    importlib.import_module("depyf.views.html.build")


def build_pages(directory: Path, called: Path, *, since: float, opened: bool) -> str:
    """Build the pages of dumps written at `since` (seconds since the epoch) or later; return a line about the result.

    An error becomes part of the line; nothing is raised.

    Args:
        directory: the directory of the dumps.
        called: the directory as the user wrote it.
        since: the time in seconds since the epoch.
        opened: whether to open the report in a browser.
    """
    from depyf.views.html.build import build_report

    try:
        report = build_report(directory, since=since)
    except Exception as error:  # noqa: BLE001 - the program's exit code goes on to its caller, whatever happens here
        return f"the report could not be built ({type(error).__name__}: {error}); `depyf report {called}` tries again"
    if opened:
        webbrowser.open(report.page.resolve().as_uri())
    return f"report in {called / report.page.relative_to(directory)}"
