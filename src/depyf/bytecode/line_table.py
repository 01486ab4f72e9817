"""Line numbers: the formats of `co_lnotab`, and of `co_linetable` in 3.10 and in 3.11 and newer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from depyf.bytecode.code import Code
from depyf.errors import DecompilationError

Lines = list[int | None]
"""Line number per 2-byte unit of bytecode."""

NO_LINE = -128
HEAD = 128
"""The bit of the first byte of an entry."""
DATA = bytes(range(HEAD))
LONG = re.compile(rb"[\xe8-\xf7](\0?)")
"""The first bytes of entries of kinds 13 and 14, and the number 0 after one."""
NUMBERED = 1 << 31
"""Stands for the change of an entry that stores it as a number."""
WIDEST = 36
"""Numbers have 32 bits, in at most six bytes. A longer one is invalid, and reading it would take quadratic time."""
CHANGES = [*[0] * 11, 1, 2, NUMBERED, NUMBERED, None]
ENTRIES = [(CHANGES[head >> 3 & 15], (head & 7) + 1) for head in range(256)]
"""By the first byte of an entry: the change of the line, None for no line, and the length in units."""


def signed(byte: int) -> int:
    """Read a byte as a signed number."""
    return byte - 256 if byte > 127 else byte


def pairs(table: bytes) -> Iterator[tuple[int, int]]:
    """Split a table into pairs of bytes; an odd byte at the end is ignored."""
    return zip(table[::2], table[1::2], strict=False)


def lnotab(code: Code, units: int) -> Lines:
    """Read `co_lnotab`: advances of offset and line. A line applies from its offset on."""
    lines: Lines = []
    line, offset = code.first_line, 0
    for step, change in pairs(code.line_table):
        offset += step
        lines.extend([line] * (min(offset // 2, units) - len(lines)))
        line += signed(change)
    lines.extend([line] * (units - len(lines)))
    return lines


def ranges(code: Code, units: int) -> Lines:
    """Read `co_linetable` of 3.10: the length of a range, then its line relative to the last."""
    lines: Lines = []
    line = code.first_line
    for length, change in pairs(code.line_table):
        change = signed(change)
        if change != NO_LINE:
            line += change
        lines.extend([None if change == NO_LINE else line] * (length // 2))
    return fitted(lines, units)


def locations(code: Code, units: int) -> Lines:
    """Read `co_linetable` of 3.11 and newer: per entry a kind, a length, and the data of that kind."""
    table, line = code.line_table, code.first_line
    lines: Lines = []
    if table and table[0] < HEAD:
        raise DecompilationError("the line table is broken at its byte 0", code=str(code))
    changes = [0 if match[1] else varint_change(code, match.end()) for match in LONG.finditer(table)]
    changes.reverse()
    present: int | None = line
    alike = 0
    for head in table.translate(None, DATA):
        change, length = ENTRIES[head]
        if change is NUMBERED:
            change = changes.pop()
        if change or (change is not None and present is None):
            lines += [present] * alike
            alike = 0
            line += change
            present = line
        elif change is None and present is not None:
            lines += [present] * alike
            alike = 0
            present = None
        alike += length
    lines += [present] * alike
    return fitted(lines, units)


def varint_change(code: Code, position: int) -> int:
    """Read a signed variable-length number: six bits a byte, low ones first, bit 0 is the sign."""
    value = shift = 0
    while True:
        if position >= len(code.line_table):
            raise DecompilationError("the line table ends within a number", code=str(code))
        if shift > WIDEST:
            raise DecompilationError("the line table has a number of more than 36 bits", code=str(code))
        byte = code.line_table[position]
        value |= (byte & 63) << shift
        shift += 6
        position += 1
        if not byte & 64:
            return -(value >> 1) if value & 1 else value >> 1


def fitted(lines: Lines, units: int) -> Lines:
    """Cut or extend the list to one line per unit; units that the table does not cover have None."""
    return lines[:units] + [None] * (units - len(lines))


FORMATS: dict[str, Callable[[Code, int], Lines]] = {"lnotab": lnotab, "ranges": ranges, "locations": locations}


def read_lines(code: Code, format_name: str) -> Lines:
    """Return the line of each 2-byte unit of the code; `format_name` is a key of `FORMATS`."""
    return FORMATS[format_name](code, len(code.bytecode) // 2)
