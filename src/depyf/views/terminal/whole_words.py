"""Text and tables for a terminal of any width, in which no word and no path is broken.

A word that is longer than the terminal is wide stays in one piece, so that it can be copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

from depyf.bytecode.records import dataclass

LEAST = 24
"""The least width for text beside its indentation, in characters."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text that is wrapped between words, with an indentation and empty lines below."""

    text: Text
    indent: int = 0
    below: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = max(options.max_width - self.indent, LEAST)
        for line in self.text.split("\n", allow_blank=True):
            # rich itself breaks or crops a word that is longer than the line.
            for part in line.divide(_ends(line.plain, width)):
                part.rstrip()
                yield _whole(Text(" " * self.indent).append_text(part))
        for _ in range(self.below):
            yield Text()


def _ends(line: str, width: int) -> list[int]:
    """Return where to break a line between words.

    >>> _ends("one two three", 7), _ends("one", 1)
    ([8], [])
    """
    ends: list[int] = []
    begin = 0
    start = 0
    for word in line.split():
        start = line.index(word, start)
        if cell_len(line[begin : start + len(word)]) > width and start > begin:
            begin = start
            ends.append(begin)
        start += len(word)
    return ends


def _whole(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ignore"
    return text


@dataclass(slots=True)
class Rows:
    """A table. In a terminal that is too narrow for its longest words, each row is a line with indented lines below.

    right: how many of the last columns are numbers, which are aligned at the right.
    """

    names: Sequence[str]
    right: int = 0
    rows: list[list[Text]] = field(default_factory=list)

    def add(self, *cells: str | Text) -> None:
        """Add a row."""
        self.rows.append([cell if isinstance(cell, Text) else Text(cell) for cell in cells])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Paragraph]:
        columns = zip(self.names, *self.rows, strict=True)
        least = [max(_longest(str(cell)) for cell in column) for column in columns]
        if sum(least) + 2 * len(least) <= options.max_width:
            yield self._table(least)
            return
        texts = len(self.names) - self.right
        for row in self.rows:
            head = Text("  ").join(cell for cell in row[:2] if cell.plain)
            yield Paragraph(head)
            numbers = zip(self.names[texts:], row[texts:], strict=True)
            cells = [*row[2:texts], *(Text(f"{name} ") + cell for name, cell in numbers if cell.plain)]
            yield Paragraph(Text(", ").join(cell for cell in cells if cell.plain), indent=2)

    def _table(self, least: Sequence[int]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False)
        for place, (name, width) in enumerate(zip(self.names, least, strict=True)):
            is_number = place >= len(self.names) - self.right
            table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number, min_width=width)
        for row in self.rows:
            table.add_row(*row)
        return table


def _longest(text: str) -> int:
    return max(map(len, text.split()), default=0)
