"""Lines of a text that a page folds: long headers, imports and names at the head, docstrings after one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from depyf.bytecode.records import dataclass

FEWEST = 3
"""The fewest lines that are folded."""

HEADER = 3
"""Lines of a text's first comment that stay visible."""

_IMPORT = re.compile(r"(?:import|from)\s+[\w.]")
_NAMING = re.compile(r"\w+ = [\w.]+(?:\(\))?\s*(?:#.*)?$")
_DOCSTRING = re.compile(r"\s*[rRuU]?(?P<quotes>\"\"\"|''')")


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that are hidden at first, counted from 1, with a description."""

    first: int
    last: int
    words: str


def folds(text: str) -> list[Fold]:
    """Return the folds of a Python text, in order.

    before: `    '''Return the mean.`, 12 lines more, `    '''`
    after: `    '''Return the mean.` and "13 more lines of the docstring"
    """
    rows = text.split("\n")
    found: list[Fold] = []
    docstrings = list(_docstrings(rows))
    head = _head(rows, docstrings[0][1] if docstrings and docstrings[0][0] == 1 else 0)
    header = next((index for index, row in enumerate(rows) if not row.startswith("#")), len(rows))
    parts = [((HEADER, header), "the header"), (head, "imports and names")]
    for (first, last), what in sorted([*parts, *((each, "the docstring") for each in docstrings)]):
        if last - first >= FEWEST:
            found.append(Fold(first + 1, last, f"{last - first} more lines of {what}"))
    return found


def _docstrings(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of docstrings: strings at the start of the text or of an indented block."""
    before, number = ":", 0
    while number < len(rows):
        found = _DOCSTRING.match(rows[number])
        if found is not None and before.endswith(":"):
            last = _closed(rows, number, found.end(), found["quotes"])
            if last is not None:
                yield number + 1, last + 1
                number = last
        before = rows[number].partition("#")[0].rstrip() or before
        number += 1


def _closed(rows: Sequence[str], number: int, column: int, quotes: str) -> int | None:
    """Return the index of the row in which a string ends that begins in row `number`, or None."""
    if quotes in rows[number][column:]:
        return number
    return next((index for index in range(number + 1, len(rows)) if quotes in rows[index]), None)


def _head(rows: Sequence[str], number: int) -> tuple[int, int]:
    """Return the first import of a module and the last line of the names defined at its head, from row `number` on."""
    first = last = 0
    while number < len(rows):
        row, begins = rows[number], number + 1
        if _IMPORT.match(row) or (first and _NAMING.match(row)):
            if row.rstrip().endswith("("):
                number = next((index for index in range(number, len(rows)) if rows[index].startswith(")")), number)
            first, last = first or begins, number + 1
        elif row.strip() and not row.startswith("#"):
            break
        number += 1
    return first, last
