"""Map places in a text to lines of the original.

The text's own code links the two: the same instruction has one location in the text and another in the original.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from depyf.bytecode.code import Code
from depyf.bytecode.line_table import read_lines
from depyf.bytecode.places import read_places
from depyf.bytecode.versions.known import facts_of

MOST_UNITS = 4000
"""The most units of code to align if the codes differ: the alignment takes quadratic time."""

Origins = dict[tuple[int, int], tuple[int, int]]
"""By line and column in bytes in the text: line and column in the original. The column -1 stands for a whole line."""
WHOLE = -1


def origins(code: Code, candidate: Code) -> Origins:
    """Return the place in the original for each place in the text.

    Args:
        code: the decompiled code.
        candidate: the text, compiled by an interpreter of the same version.
    """
    original_places: Origins = {}
    pairs = [(code, candidate)]
    for mine, its in pairs:  # The list grows during the iteration.
        _add(mine, its, original_places)
        my_codes = [const for const in mine.consts if isinstance(const, Code)]
        its_codes = [const for const in its.consts if isinstance(const, Code)]
        if [const.name for const in my_codes] == [const.name for const in its_codes]:
            pairs += zip(my_codes, its_codes, strict=True)
    return original_places


def _add(mine: Code, its: Code, original_places: Origins) -> None:
    """Add the places from one code object; earlier entries stay."""
    if its.name != "<module>" and mine.first_line > 0:
        original_places.setdefault((its.first_line, WHOLE), (mine.first_line, WHOLE))
    table = facts_of(mine.version, str(mine)).lines
    my_lines, its_lines = read_lines(mine, table), read_lines(its, table)
    has_columns = table == "locations"
    my_places, its_places = (read_places(mine), read_places(its)) if has_columns else ([], [])
    for my_unit, its_unit in _aligned(mine, its):
        my_line, its_line = my_lines[my_unit], its_lines[its_unit]
        if not my_line or not its_line:
            continue
        original_places.setdefault((its_line, WHOLE), (my_line, WHOLE))
        my_place = my_places[my_unit] if my_unit < len(my_places) else None
        its_place = its_places[its_unit] if its_unit < len(its_places) else None
        if my_place is not None and its_place is not None:
            original_places.setdefault((its_place.line, its_place.column), (my_place.line, my_place.column))


def _aligned(mine: Code, its: Code) -> list[tuple[int, int]]:
    """Return the pairs of units of two codes with the same instruction."""
    my_bytes, its_bytes = mine.bytecode, its.bytecode
    if len(my_bytes) == len(its_bytes) and my_bytes[::2] == its_bytes[::2]:
        return [(unit, unit) for unit in range(len(my_bytes) // 2)]
    if max(len(my_bytes), len(its_bytes)) // 2 > MOST_UNITS:
        return []
    blocks = SequenceMatcher(None, _units(my_bytes), _units(its_bytes), autojunk=False).get_matching_blocks()
    return [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]


def _units(data: bytes) -> list[bytes]:
    return [data[place : place + 2] for place in range(0, len(data), 2)]
