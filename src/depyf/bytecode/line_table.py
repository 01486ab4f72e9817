"""Line numbers: the formats of `co_lnotab`, `co_linetable` of 3.10, and of 3.11 and newer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from depyf.bytecode.code import Code
from depyf.errors import DecompilationError

Lines = list[int | None]
"""Line number per 2-byte unit of bytecode."""

NO_LINE = -128
NONE = 15
"""The kind of entry without a line; those of 13 and 14 have a number for it, 11 and 12 add 1 and 2, the others 0."""
HEAD = 128
"""The bit of the first byte of an entry."""
ENTRY = re.compile(rb"[\x80-\xff][\x00-\x7f]*")


def signed(byte: int) -> int:
    """Read a byte as a signed number."""
    return byte - 256 if byte > 127 else byte


def pairs(table: bytes) -> Iterator[tuple[int, int]]:
    """Split a table into pairs of bytes; an odd byte at the end says nothing."""
    return zip(table[::2], table[1::2], strict=False)


def lnotab(code: Code, units: int) -> Lines:
    """Read `co_lnotab`: advances of offset and line, the line holds from the offset on."""
    lines: Lines = []
    line, offset = code.first_line, 0
    for step, change in pairs(code.line_table):
        offset += step
        lines.extend([line] * (min(offset // 2, units) - len(lines)))
        line += signed(change)
    lines.extend([line] * (units - len(lines)))
    return lines


def ranges(code: Code, units: int) -> Lines:
    """Read `co_linetable` of 3.10: length of a range, then its line against the last."""
    lines: Lines = []
    line = code.first_line
    for length, change in pairs(code.line_table):
        change = signed(change)
        if change != NO_LINE:
            line += change
        lines.extend([None if change == NO_LINE else line] * (length // 2))
    return fitted(lines, units)


def locations(code: Code, units: int) -> Lines:
    """Read `co_linetable` of 3.11 and newer: per entry a kind, a length, and what the kind asks for."""
    table, line = code.line_table, code.first_line
    lines: Lines = []
    if table and table[0] < HEAD:
        raise DecompilationError("the line table is broken at its byte 0", code=str(code))
    position = 0
    for entry in ENTRY.findall(table):
        head = entry[0]
        kind = head >> 3 & 15
        if kind > 10:
            if kind <= 12:
                line += kind - 10
            elif kind != NONE:
                line += varint_change(code, position + 1)
        position += len(entry)
        lines += [line if kind != NONE else None] * ((head & 7) + 1)
    return fitted(lines, units)


def varint_change(code: Code, position: int) -> int:
    """Read a signed variable-length number: six bits a byte, low ones first, bit 0 is the sign."""
    value = shift = 0
    while True:
        if position >= len(code.line_table):
            raise DecompilationError("the line table ends within a number", code=str(code))
        byte = code.line_table[position]
        value |= (byte & 63) << shift
        shift += 6
        position += 1
        if not byte & 64:
            return -(value >> 1) if value & 1 else value >> 1


def fitted(lines: Lines, units: int) -> Lines:
    """Cut or fill up to one line per unit; what the table leaves out has none."""
    return lines[:units] + [None] * (units - len(lines))


FORMATS: dict[str, Callable[[Code, int], Lines]] = {"lnotab": lnotab, "ranges": ranges, "locations": locations}


def read_lines(code: Code, format_name: str) -> Lines:
    """Return the line of each 2-byte unit of the code; `format_name` is a key of `FORMATS`."""
    return FORMATS[format_name](code, len(code.bytecode) // 2)
