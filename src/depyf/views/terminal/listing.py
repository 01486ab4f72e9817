"""Lines of code with their numbers, in colour, and with comments between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions
from rich.syntax import Syntax
from rich.text import Text

from depyf.bytecode.records import dataclass

Row = tuple[int, str]
"""The number of a line, and its text."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Some lines of code, each with its number in its file. A number of 0 is that of a comment, which has none."""

    rows: Sequence[Row]
    language: str = "python"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = len(str(max((number for number, _ in self.rows), default=0)))
        code = Syntax("", self.language, background_color="default").highlight("\n".join(text for _, text in self.rows))
        for (number, _), line in zip(self.rows, code.split("\n", allow_blank=True)):
            line.rstrip()
            shown = Text(f"  {number or '':>{width}} ", "dim").append_text(line)
            # The terminal wraps long lines. A line that rich wraps is not the code.
            shown.no_wrap, shown.overflow = True, "ignore"
            yield shown


def dedented(rows: Iterable[Row]) -> list[Row]:
    """Return lines without the indentation that they share.

    >>> dedented([(3, "    if x:"), (4, "        y"), (7, "")])
    [(3, 'if x:'), (4, '    y'), (7, '')]
    """
    kept = list(rows)
    margin = min((len(text) - len(text.lstrip()) for _, text in kept if text.strip()), default=0)
    return [(number, text[margin:]) for number, text in kept]


def commented(rows: Iterable[Row], comments: dict[int, str], sign: str) -> list[Row]:
    """Return lines with comments above them; a comment that repeats the last one is left out.

    Args:
        rows: the lines.
        comments: the comment of each line that has one, by the line's number.
        sign: what begins a comment, such as `//`.
    """
    shown: list[Row] = []
    last = ""
    for number, text in rows:
        comment = comments.get(number, "")
        if comment and comment != last:
            shown.append((0, f"{text[: len(text) - len(text.lstrip())]}{sign} {comment}"))
        last = comment or last
        shown.append((number, text))
    return shown
