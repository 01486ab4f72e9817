"""A summary of the run in a few lines, for the terminal in which it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from depyf.model.counts import breaks_of, counted
from depyf.model.run import Recompile, Session
from depyf.model.user_source import short_path

MOST_LINES = 6
"""The most lines below the first; the index has the rest."""
_WIDTH = 200


def summary(session: Session, directory: Path) -> list[str]:
    """Return what happened in a context: counts, the path of the index, and the most important facts."""
    lines = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..." for line in _lines(session)]
    more = [f"  and {len(lines) - MOST_LINES} more in the index"] if len(lines) > MOST_LINES else []
    return [f"depyf: {_counts(session)}; see {directory / 'index.md'}", *lines[:MOST_LINES], *more]


class CaptureView:
    """The display of a capture: a summary in a terminal, the report in a notebook after its context has ended."""

    def text(self, session: Session) -> str:
        """Return the summary of the run."""
        return "\n".join(summary(session, Path(session.directory)))

    def bundle(self, session: Session) -> dict[str, str]:
        """Return the report of the session's files, or its summary while its context is active."""
        from depyf.views.embedded import bundle_of_capture

        return bundle_of_capture(Path(session.directory), repr(session), session.ended)


STYLES = {
    "depyf:": "bold",
    "  high": "red",
    "  medium": "yellow",
    "  low": "dim",
    "  compiled before": "magenta",
}
"""rich's style for each start of a line."""


def show(lines: list[str], stream: TextIO) -> None:
    """Print a summary to a terminal, in colour if `rich` is installed and the terminal supports it."""
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        print("\n".join(lines), file=stream)
        return
    console = Console(file=stream, soft_wrap=True)
    for line in lines:
        console.print(Text(line, next((style for begin, style in STYLES.items() if line.startswith(begin)), "")))


def _counts(session: Session) -> str:
    compiles = [compiled for _, compiled in session.compiles()]
    if not compiles:
        return "nothing was compiled"
    recompiles = sum(isinstance(compiled.trigger, Recompile) for compiled in compiles)
    return ", ".join((counted(len(compiles), "compile"), str(breaks_of(compiles)), counted(recompiles, "recompile")))


def _lines(session: Session) -> Iterator[str]:
    from depyf.findings import findings

    for finding in findings(session):
        yield f"  {finding.severity}: {finding.line}"
    for (name, filename, line), hits in session.earlier.items():
        yield f"  compiled before: {name}, {short_path(filename)}:{line} served {counted(hits, 'call')}"
