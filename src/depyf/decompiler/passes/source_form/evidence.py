"""Find source statements without operations of their own: their locations remain in the code.

`return` has its own location, and `return None` has the location of its `None`. `continue` and `pass` have the
locations of jumps, of instructions without effect, or of the exit that follows.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.places import Place

WAYS_OUT = frozenset({"CONST", "RETURN", "POP", "POP_EXCEPT", "SWAP", "COPY", "NULL", "JUMP"})
"""Operations that may have the location of another statement."""
CLEANUP = ["CONST", "STORE", "DELETE"]
"""The operations that unbind the name of a clause: `name = None; del name`."""
DELETES = frozenset(name for name in OPERATIONS if name.startswith("DELETE"))
MAY_LEAVE = WAYS_OUT.union(DELETES, (name for name in OPERATIONS if name.startswith("STORE")))
"""All operations that may have the location of another statement."""


class Kind(Enum):
    """The kind of a statement, and its spelling."""

    RETURN = "return"
    NONE = "return None"
    CONTINUE = "continue"
    BREAK = "break"
    PASS = "pass"


MOST_BRACKETS = 3
"""The most parentheses that may be closed before the colon of a one-line compound statement."""
RETURNS = frozenset({Kind.RETURN, Kind.NONE})
BARE = {len(kind.value): kind for kind in (Kind.RETURN, Kind.CONTINUE, Kind.BREAK, Kind.PASS)}
ANYWHERE = frozenset({Kind.PASS, Kind.NONE})
"""Statements that may, but need not, have the location of an instruction that returns."""


class Written(NamedTuple):
    """A statement of the source: its line, its column if known, and its kind."""

    line: int
    column: int | None
    kind: Kind


def _begins_statement(line: int, column: int, unit: int, ends: set[tuple[int, int]]) -> bool:
    """Return whether a statement may begin in a column: it is indented there, or follows a colon.

    Parentheses may be closed before the colon.
    """
    last = column - len(": ")
    return column >= 0 and (column % unit == 0 or any((line, last - more) in ends for more in range(MOST_BRACKETS + 1)))


def _begins_return(line: int, column: int, code: Code, unit: int, ends: set[tuple[int, int]]) -> bool:
    """Return whether a `return` may begin in a column: on the first line, the head of the function precedes it."""
    if line == code.first_line and column < len(f"def {code.name}({', '.join(code.parameters)}): "):
        return False
    return _begins_statement(line, column, unit, ends)


def leaves(instructions: list[Instruction], number: int) -> bool:
    """Return whether an instruction may have the location of another statement: a constant None may.

    So may instructions that unbind the name of a clause.
    """
    instruction = instructions[number]
    if instruction.op in WAYS_OUT:
        return instruction.op != "CONST" or instruction.arg is None
    start = number - 1 if instruction.op.startswith("STORE") else number - 2
    return instruction.op.partition("_")[0] in CLEANUP and start >= 0 and is_cleanup(instructions[start : start + 3])


def is_cleanup(part: list[Instruction]) -> bool:
    """Return whether instructions unbind the name of a clause."""
    is_alike = [instruction.op.partition("_")[0] for instruction in part] == CLEANUP
    return is_alike and is_none(part[0]) and part[1].arg == part[2].arg


def is_none(instruction: Instruction) -> bool:
    """Return whether an instruction loads None."""
    return instruction.op == "CONST" and instruction.arg is None


class Unclaimed(NamedTuple):
    """One-line locations without an operation, or only with operations that may have the location of a statement.

    idle: those without an operation, or only with jumps.
    others: the locations of all other operations.
    """

    places: set[Place]
    idle: set[Place]
    others: set[Place | None]


def unclaimed(listing: Listing) -> Unclaimed:
    """Return the locations that no operation claims."""
    instructions, places = listing.instructions, listing.places
    if not places:
        return Unclaimed(set(), set(), set())
    may_leave = WAYS_OUT if DELETES.isdisjoint(listing.ops) else MAY_LEAVE
    others = {places[instruction.offset >> 1] for instruction in instructions if instruction.op not in may_leave}
    leaving: set[Place | None] = set()
    for number, instruction in enumerate(instructions):
        op = instruction.op
        if op in may_leave and op != "JUMP":
            (leaving if leaves(instructions, number) else others).add(places[instruction.offset >> 1])
    # The units of an instruction share an object, whose identity is hashed in less time than a place.
    known = set(dict(zip(map(id, places), places)).values())
    free = {place for place in known - others if place is not None and place.line == place.end_line}
    return Unclaimed(free, free - leaving, others)


def written_statements(listing: Listing, left: Unclaimed, unit_of: Callable[[], int]) -> list[Written]:
    """Return the statements that locations show, in the order of the source.

    Args:
        listing: the instructions with their locations.
        left: the locations that no operation claims.
        unit_of: returns the indentation of statements in columns. `pass` is as wide as `None`, but in the column of a
            statement.
    """
    likely = [place for place in left.places if place.end_column - place.column in BARE]
    if not likely:
        return []
    unit = unit_of()
    ends = {(place.end_line, place.end_column) for place in left.others if place is not None}
    returning = {
        listing.places[instruction.offset >> 1] for instruction in listing.instructions if instruction.op == "RETURN"
    }
    statements = []
    for place in likely:
        kind: Kind | None = BARE[place.end_column - place.column]
        column = place.column
        inner = column - len("return ")
        if kind is Kind.PASS and place in returning and _begins_return(place.line, inner, listing.code, unit, ends):
            kind, column = Kind.NONE, inner
        if kind is Kind.BREAK:
            kind = kind if _begins_statement(place.line, column, unit, ends) else None
        elif (kind is Kind.RETURN) != (place in returning) and kind not in ANYWHERE:
            kind = None
        if kind is not None:
            statements.append(Written(place.line, column, kind))
    return sorted(statements, key=_order)


def _order(statement: Written) -> tuple[int, int]:
    return statement.line, statement.column or 0
