"""The source locations of instructions: lines and columns, in the format of 3.11 and newer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from depyf.bytecode.code import Code
from depyf.bytecode.line_table import HEAD, Lines, fitted, locations

LONGEST = 6
"""Bytes of the longest number in a table, for a file of at most 2**30 lines."""
MOST = 63
"""The highest value of the last byte of a number; the other bytes are higher."""
SHORT, ONE_LINE, NO_COLUMNS, LONG = 10, 13, 13, 14
"""The first kinds of entries that are not short, that may span lines, without columns, and with full numbers."""


class Place(NamedTuple):
    """The start and end of an expression or statement: lines of the file, columns in bytes."""

    line: int
    column: int
    end_line: int
    end_column: int


Places = list[Place | None]
"""The location of each 2-byte unit of bytecode; None if the table has none."""


class _Broken(Exception):
    """A table that no compiler writes."""


def _number(rest: Iterator[int]) -> int:
    """Return the next number: six bits per byte, low ones first."""
    byte = next(rest)
    value = byte & MOST
    place = 0
    while byte > MOST:
        place += 6
        if place == 6 * LONGEST:
            raise _Broken
        byte = next(rest)
        value |= (byte & MOST) << place
    return value


def read_places(code: Code) -> Places:
    """Return the location of each 2-byte unit of code of 3.11 or newer; an empty list if the table is invalid."""
    return read_located(code)[1]


def read_located(code: Code) -> tuple[Lines, Places]:
    """Return the line and location of each 2-byte unit of code of 3.11 or newer; no location if the table is invalid.

    Raises `DecompilationError` for a table whose lines cannot be read.
    """
    units = len(code.bytecode) // 2
    lines: Lines = []
    places: Places = []
    try:
        _read(code, lines, places)
    except (_Broken, StopIteration):
        return locations(code, units), []
    return fitted(lines, units), places[:units] + [None] * (units - len(places))


def _read(code: Code, lines: Lines, places: Places) -> None:
    """Append the line and location of each unit."""
    line, rest = code.first_line, iter(code.line_table)
    make = tuple.__new__  # `Place(...)` takes twice as long.
    place: Place | None
    for head in rest:
        if head < HEAD:
            raise _Broken
        kind, count = head >> 3 & 15, (head & 7) + 1
        if kind < SHORT:
            byte = next(rest)
            column = kind << 3 | byte >> 4
            place = make(Place, (line, column, line, column + (byte & 15)))
        elif kind < ONE_LINE:
            line += kind - SHORT
            place = make(Place, (line, next(rest), line, next(rest)))
        elif kind <= LONG:
            line, place = _numbered(rest, kind, line)
        else:
            lines += [None] * count
            places += [None] * count
            continue
        lines += [line] * count
        places += [place] * count


def _numbered(rest: Iterator[int], kind: int, line: int) -> tuple[int, Place | None]:
    """Return the line from which the next entry counts, and the location of this entry."""
    change, height, column, end = next(rest), 0, 0, 0
    if kind == LONG:
        height, column, end = next(rest), next(rest), next(rest)
        if change | height | column | end > MOST:
            # A number has several bytes: read the entry again, with full numbers.
            rest = chain((change, height, column, end), rest)
            change, height, column, end = _number(rest), _number(rest), _number(rest), _number(rest)
    elif change > MOST:
        change = _number(chain((change,), rest))
    line += -(change >> 1) if change & 1 else change >> 1
    return line, tuple.__new__(Place, (line, column - 1, line + height, end - 1)) if column else None
