"""The user's source as far as a trace quotes it, and the local files that match these quotes."""

from __future__ import annotations

import os
import re
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.model.artifacts.graph_source import SAYS_PLACE
from depyf.model.user_line import UserLine

_IN_STACK = re.compile(
    r'^ *File "(?P<file>[^"\n]+)", line (?P<line>\d{1,9}), in [^\n]*\n[ ]{2,}(?P<text>[^\s^~][^\n]*)$', re.MULTILINE
)
_IN_GRAPH = re.compile(
    rf"{SAYS_PLACE}(?P<file>[^\n]*?):(?P<line>\d{{1,9}}) in [^\n]*?, code: (?P<text>[^\n]*)$", re.MULTILINE
)

MOST_LINES = 200_000
"""The highest line number that is accepted, because a file of quotes is as long as its last line."""
MOST_BYTES = 8 << 20
QUOTED = "only the lines that the trace quotes are shown: the file is not on this machine, or it is different"


@dataclass(slots=True)
class Quotes:
    """Collects the lines of files that a trace quotes."""

    lines: dict[str, dict[int, str]] = field(default_factory=dict)

    def add(self, file: str, line: int, text: str) -> None:
        """Record the text of a line, which torch quotes without its indentation.

        Args:
            file: the path of the file.
            line: the line number, from 1.
            text: the text of the line.
        """
        if file and 0 < line <= MOST_LINES and text.strip():
            self.lines.setdefault(file, {}).setdefault(line, text.strip())

    def read(self, text: str) -> None:
        """Record the lines that a graph's comments or a printed stack quote."""
        if " File: " in text:
            for quote in _IN_GRAPH.finditer(text):
                self.add(quote["file"], int(quote["line"]), quote["text"])
        if 'File "' in text:
            for quote in _IN_STACK.finditer(text):
                self.add(quote["file"], int(quote["line"]), quote["text"])

    def add_stack(self, stack: tuple[UserLine, ...]) -> None:
        """Record the lines of a structured stack."""
        for line in stack:
            self.add(line.filename, line.line, line.text)

    def source(self, file: str) -> tuple[str, bool]:
        """Return the text of a file, and whether it is complete. A local file is, if it contains each quote."""
        quoted = self.lines.get(file, {})
        local = _local_text(file) if quoted else ""
        rows = local.splitlines()
        if rows and all(line <= len(rows) and _begins(rows[line - 1], text) for line, text in quoted.items()):
            return local, True
        last = max(quoted, default=0)
        return "".join(f"{quoted.get(number, '')}\n" for number in range(1, last + 1)), False


def _begins(row: str, quote: str) -> bool:
    """Return whether a line of a file matches its quote. Graphs quote the first part of a long line."""
    return row.strip() == quote or (len(quote) > 20 and row.strip().startswith(quote))


def _local_text(file: str) -> str:
    """Return the text of a local Python file, or "". A name in a trace may be any name."""
    if not (os.path.isabs(file) and file.endswith(".py") and os.path.isfile(file)):
        return ""
    try:
        if os.path.getsize(file) > MOST_BYTES:
            return ""
        with open(file, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except (OSError, ValueError):
        return ""
