"""The source locations of instructions: lines and columns, in the format of 3.11 and newer."""

from __future__ import annotations

from typing import NamedTuple

from depyf.bytecode.code import Code

LONGEST = 6
"""Bytes of the longest number in a table, for a file of at most 2**30 lines."""
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


class _Numbers:
    """The bytes of a table from a position on."""

    def __init__(self, table: bytes, position: int) -> None:
        self.table = table
        self.position = position

    def byte(self) -> int:
        """Return the next byte."""
        if self.position >= len(self.table):
            raise _Broken
        self.position += 1
        return self.table[self.position - 1]

    def number(self) -> int:
        """Return the next number: six bits a byte, low ones first."""
        value = 0
        for place in range(LONGEST):
            byte = self.byte()
            value |= (byte & 63) << 6 * place
            if not byte & 64:
                return value
        raise _Broken

    def signed(self) -> int:
        """Return the next number with a sign, which is its bit 0."""
        value = self.number()
        return -(value >> 1) if value & 1 else value >> 1


def read_places(code: Code) -> Places:
    """Return the location of each 2-byte unit of code of 3.11 or newer; an empty list if the table is invalid."""
    table, line, position = code.line_table, code.first_line, 0
    units = len(code.bytecode) // 2
    found: Places = []
    try:
        while position < len(table) and len(found) < units:
            head = table[position]
            kind = head >> 3 & 15
            place: Place | None
            if kind < SHORT:
                byte = table[position + 1]
                column = kind << 3 | byte >> 4
                place = Place(line, column, line, column + (byte & 15))
                position += 2
            elif kind < ONE_LINE:
                line += kind - SHORT
                place = Place(line, table[position + 1], line, table[position + 2])
                position += 3
            else:
                numbers = _Numbers(table, position + 1)
                line, place = _entry(numbers, kind, line)
                position = numbers.position
            found += [place] * ((head & 7) + 1)
    except (_Broken, IndexError):
        return []
    return found + [None] * (units - len(found))


def _entry(numbers: _Numbers, kind: int, line: int) -> tuple[int, Place | None]:
    """Return the line from which the next entry counts, and the location of this entry."""
    if kind == NO_COLUMNS:
        return line + numbers.signed(), None
    if kind == LONG:
        line += numbers.signed()
        last = line + numbers.number()
        column, end = numbers.number() - 1, numbers.number() - 1
        return line, Place(line, column, last, end) if column >= 0 else None
    return line, None
