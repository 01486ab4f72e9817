"""Statements without operations of their own that the source has: their places are left in the code.

`return` has the place of itself, `return None` that of its `None`; `continue` and `pass` have those of jumps, of
instructions that do nothing, or of the way out that follows.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from depyf.bytecode.listing import Instruction, Listing

WAYS_OUT = frozenset({"CONST", "RETURN", "POP", "POP_EXCEPT", "SWAP", "COPY", "NULL", "JUMP"})
"""Operations that may have the place of a statement that they are not."""


class Kind(Enum):
    """What stands there, and how it is spelled."""

    RETURN = "return"
    NONE = "return None"
    CONTINUE = "continue"
    PASS = "pass"


RETURNS = frozenset({Kind.RETURN, Kind.NONE})
BARE = {len(kind.value): kind for kind in (Kind.RETURN, Kind.CONTINUE, Kind.PASS)}


class Written(NamedTuple):
    """A statement of the source: its line, its column, and what it is."""

    line: int
    column: int
    kind: Kind


def _begins_statement(line: int, column: int, unit: int, ends: set[tuple[int, int]]) -> bool:
    """Return whether a statement may begin in a column: it is indented there, or stands behind a colon."""
    return column >= 0 and (column % unit == 0 or (line, column - len(": ")) in ends)


def _is_way_out(one: Instruction) -> bool:
    """Return whether an instruction may have the place of a statement that it is not: a constant that is None may."""
    return one.op in WAYS_OUT and (one.op != "CONST" or one.arg is None)


def written_statements(listing: Listing, unit: int) -> list[Written]:
    """Return the statements that places show, in the order of the source.

    unit: by how many columns statements are indented. `pass` is as wide as `None`, but in the column of a statement.
    """
    instructions, places = listing.instructions, listing.places
    if not places:
        return []
    others = {places[each.offset >> 1] for each in instructions if not _is_way_out(each)}
    ends = {(place.end_line, place.end_column) for place in others if place is not None}
    returning = {places[each.offset >> 1] for each in instructions if each.op == "RETURN"}
    found = []
    for place in set(places) - others:
        if place is None or place.line != place.end_line:
            continue
        kind, column = BARE.get(place.end_column - place.column), place.column
        inner = column - len("return ")
        if kind is Kind.PASS and place in returning and _begins_statement(place.line, inner, unit, ends):
            kind, column = Kind.NONE, inner
        if (kind is Kind.RETURN) != (place in returning) and kind is not Kind.PASS and kind is not Kind.NONE:
            kind = None
        if kind is not None:
            found.append(Written(place.line, column, kind))
    return sorted(found, key=_order)


def _order(one: Written) -> tuple[int, int]:
    return one.line, one.column


__all__ = ["RETURNS", "Kind", "Written", "written_statements"]
