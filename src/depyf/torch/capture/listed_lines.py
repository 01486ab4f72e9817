"""The lines of a transformed function's file for each instruction in a listing of Dynamo's code."""

from __future__ import annotations

import dis
import types

from depyf.bytecode.code import Code
from depyf.bytecode.host import codes_in_order
from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.assumptions import Assumptions
from depyf.verify.counterparts import Lines, lines_of_instructions

ListedLines = tuple[tuple[tuple[int, ...], ...], ...]
"""For each code object in the listing, in order: the index of an instruction there, and its lines of the file."""

_PARTS_OF_NEXT = frozenset({"EXTENDED_ARG", "PRECALL"})
"""Instructions in a listing that are the start of the next one."""


def listed_lines(
    new_code: types.CodeType, shown: types.CodeType, compiled: types.CodeType, known: Assumptions
) -> ListedLines:
    """Return the lines for the instructions of Dynamo's code.

    `compiled` is the code of the file, proven equivalent to `shown`: Dynamo's code with a few replaced instructions.

    Args:
        new_code: Dynamo's code.
        shown: Dynamo's code with a few replaced instructions.
        compiled: the code of the file, proven equivalent to `shown`.
        known: what is known about the globals that the code loads.
    """
    original = read(shown)
    try:
        lines_by_code = {id(code): lines for code, lines in lines_of_instructions(original, read(compiled), known)}
    except DecompilationError:
        return ()
    return tuple(
        tuple((place, *sorted(lines)) for place, lines in _by_place(code, lines_by_code.get(id(neutral), {})).items())
        for code, neutral in zip(codes_in_order(new_code), _codes(original), strict=True)
    )


def _codes(code: Code) -> list[Code]:
    """Return a code and its nested codes in the order of `codes_in_order`."""
    codes = [code]
    for current in codes:
        codes.extend(constant for constant in current.consts if isinstance(constant, Code))
    return codes


def _by_place(code: types.CodeType, by_offset: dict[int, Lines]) -> dict[int, Lines]:
    """Return lines by the index of the instruction that is listed at an offset."""
    lines_by_place: dict[int, Lines] = {}
    following: Lines = frozenset()
    instructions = list(dis.get_instructions(code))
    for place in range(len(instructions) - 1, -1, -1):
        item = instructions[place]
        lines = by_offset.get(item.offset, frozenset())
        following = following if not lines and item.opname in _PARTS_OF_NEXT else lines
        if following:
            lines_by_place[place] = following
    return dict(sorted(lines_by_place.items()))
