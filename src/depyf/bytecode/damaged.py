"""The whole code objects in a `.pyc` whose marshal data breaks off or is damaged; nothing is executed.

    header | module: names, constants: f (whole), g (whole), h (brok

A code object is whole if all its bytes come before the damage, and if it is valid bytecode of its version.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from depyf.bytecode.code import Code, Version
from depyf.bytecode.headerless import CODE_MARKS, HEADER_SIZES, check_code
from depyf.bytecode.pyc import MAGIC_END, PYPY_MAGICS, magic_of, neutral
from depyf.bytecode.records import dataclass
from depyf.bytecode.unmarshal import Unmarshaller
from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import FACTS, facts_of
from depyf.errors import DecompilationError


@dataclass(frozen=True, slots=True)
class Piece:
    """A whole code object, the position of its first byte in the file, and the position behind its last byte."""

    code: Code
    start: int
    end: int


def whole_codes(data: bytes, *, source: str, python: Version | None = None) -> list[Piece]:
    """Return the whole code objects of damaged data in their order, without those that another one contains.

    Args:
        data: the contents of a `.pyc` file, or marshal data.
        source: the location in error messages.
        python: the Python that made the data; by default the one that its header names, else the one with most pieces.

    Raises:
        DecompilationError: `python` is not supported.
    """
    best: list[Piece] = []
    for facts in _candidates(data, source, python):
        for size in HEADER_SIZES:
            if data[size:].startswith(CODE_MARKS):
                best = max(best, list(_pieces(data, facts, source, size)), key=len)
    return best


def _candidates(data: bytes, source: str, python: Version | None) -> list[Facts]:
    """Return the versions that may have made the data."""
    if python is not None:
        return [facts_of(python, source)]
    magic = magic_of(data) if data[2:4] == MAGIC_END else None
    if magic in PYPY_MAGICS:
        return []
    named = [facts for facts in FACTS.values() if facts.table.magic == magic]
    return named or [FACTS[known] for known in sorted(FACTS, reverse=True)]


def _pieces(data: bytes, facts: Facts, source: str, position: int) -> Iterator[Piece]:
    reader = Unmarshaller(data, facts.fields, source, position)
    with contextlib.suppress(DecompilationError):  # What it read before the damage is in `codes`.
        reader.load()
    outer_end = -1
    for start, end, fields in sorted(reader.codes, key=lambda code: code[0]):
        if start < outer_end:
            continue
        try:
            code = neutral(fields, facts, source)
            check_code(code)
        except DecompilationError:
            continue  # Its bytes are damaged too: the code objects inside it follow.
        outer_end = end
        yield Piece(code, start, end)
