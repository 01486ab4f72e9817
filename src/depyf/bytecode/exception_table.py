"""The exception table of 3.11 and newer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from depyf.bytecode.code import Code
from depyf.errors import DecompilationError


class Entry(NamedTuple):
    """Exceptions at offsets from `start` to `end` go to `target`, with the stack cut to `depth`.

    lasti: whether the offset of the raising instruction is pushed before the exception.
    """

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


LONGEST = 1 << 36
"""Numbers have 32 bits, in at most six bytes. A longer one is invalid, and reading it would take quadratic time."""


def numbers(code: Code) -> Iterator[int]:
    """Read the table's variable-length numbers: six bits a byte, high ones first."""
    value, open_number = 0, False
    for byte in code.exception_table:
        value = value << 6 | byte & 63
        open_number = bool(byte & 64)
        if not open_number:
            yield value
            value = 0
        elif value >= LONGEST:
            raise DecompilationError("the exception table has a number of more than 36 bits", code=str(code))
    if open_number:
        raise DecompilationError("the exception table ends within a number", code=str(code))


def read_exception_table(code: Code) -> list[Entry]:
    """Return the entries in order. Raises `DecompilationError` on a truncated table."""
    values = list(numbers(code))
    if len(values) % 4:
        raise DecompilationError("the exception table ends within an entry", code=str(code))
    return [
        Entry(2 * start, 2 * (start + length), 2 * target, depth >> 1, bool(depth & 1))
        for start, length, target, depth in zip(*[iter(values)] * 4, strict=True)
    ]
