"""Lines of a text that a page folds: long headers, imports and names at the head, docstrings, reads of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from depyf.bytecode.records import dataclass

FEWEST = 3
"""The fewest lines that are folded."""

FEWEST_READS = 8
"""The fewest lines at the start of a function that are folded because they only read modules and parameters."""

HEADER = 3
"""Lines of a text's first comment that stay visible."""

_IMPORT = re.compile(r"(?:import|from)\s+[\w.]")
_NAMING = re.compile(r"\w+ = [\w.]+(?:\(\))?\s*(?:#.*)?$")
_READ = re.compile(r"\s+\w+ = \w+(?:\.\w+|\[(?:'[^']*'|\"[^\"]*\"|\d+)\])+\s*(?:#.*)?$")
_DEF = re.compile(r"\s*(?:async )?def \w+\(")
_NAMES = "# Names that only the live process can give"
"""The first line of the list of names in a full code."""
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
    all_folds: list[Fold] = []
    docstrings = list(_docstrings(rows))
    head = _head(rows, docstrings[0][1] if docstrings and docstrings[0][0] == 1 else 0)
    header = next((index for index, row in enumerate(rows) if not row.startswith("#")), len(rows))
    parts = [((HEADER, header), "of the header"), (head, "of imports and names"), (_list(rows), "of names")]
    parts += [(docstring, "of the docstring") for docstring in docstrings]
    parts += [(read, "that read modules and parameters") for read in _reads(rows)]
    for (first, last), what in sorted(parts):
        if last - first >= FEWEST:
            all_folds.append(Fold(first + 1, last, f"{last - first} more lines {what}"))
    return all_folds


def _reads(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of long runs of reads with which functions start.

    before: `    modules = s._modules['l']._modules`, 70 lines like it, and the call of the graph
    after: the first of these lines, "70 more lines that read modules and parameters", and the call
    """
    number = 0
    while number < len(rows):
        is_start = _DEF.match(rows[number]) is not None and rows[number].partition("#")[0].rstrip().endswith(":")
        number += 1
        if is_start:
            first = number
            while number < len(rows) and _READ.match(rows[number]):
                number += 1
            if number - first >= FEWEST_READS:
                yield first + 1, number


def _list(rows: Sequence[str]) -> tuple[int, int]:
    """Return the first and last lines of the list of names at the head of a full code; (0, 0) if there is none."""
    first = next((number for number, row in enumerate(rows) if row.startswith(_NAMES)), None)
    if first is None:
        return 0, 0
    last = next((number for number in range(first, len(rows)) if not rows[number].startswith("#")), len(rows))
    return first + 1, last


def _docstrings(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of docstrings: strings at the start of the text or of an indented block."""
    before, number = ":", 0
    while number < len(rows):
        docstring = _DOCSTRING.match(rows[number])
        if docstring is not None and before.endswith(":"):
            last = _closed(rows, number, docstring.end(), docstring["quotes"])
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
