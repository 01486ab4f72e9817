"""`return`, `return None`, or nothing: what the author wrote where control comes to the end of a function.

Before: if c: return          After:  if c: return None
        f()                           f()
                                      return None

A `return` of the source has a place of its own: that of its `None`, or of itself. What the compiler adds at the end of
a function has the place of what is before it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NamedTuple

from depyf.bytecode.listing import Instruction, Listing
from depyf.passes.walk import inner
from depyf.passes.written.columns import Columns
from depyf.trace import step

WAYS_OUT = frozenset({"CONST", "RETURN", "POP", "POP_EXCEPT", "SWAP", "COPY", "NULL"})
"""Operations of a `return`: their places are those of statements only for others."""
LOOPS = (ast.For, ast.AsyncFor, ast.While)
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
RETURN = len("return ")
FAR = 1 << 40


class Written(NamedTuple):
    """A `return` of the source: its line, its column (-1: not known), and whether it says `None`."""

    line: int
    column: int
    says_none: bool


@dataclass(slots=True, eq=False)
class Slot:
    """Where a `return` may stand: in the place of the statement at `place` of a block, or at its end.

    before, behind: the last line that is known before it, and the first behind it. column: of the block, if known.
    owner: an `if` whose missing `else` the block would be.
    """

    block: list[ast.stmt]
    place: int
    column: int | None
    owner: ast.If | None = None
    before: int = 0
    behind: int = FAR


def restore_returns(body: list[ast.stmt], columns: Columns, listing: Listing) -> None:
    """Write each `return` that the source has and the statements lack, in place."""
    wanted = written_returns(listing, columns)
    if not wanted:
        return
    slots = _slots(body, columns)
    for one in wanted:
        fits = [slot for slot in slots if _fits(slot, one)]
        if fits:
            slot = max(fits, key=lambda each: (each.column is not None, each.place < len(each.block), each.before))
            slots.remove(slot)
            _put(slot, one)


def written_returns(listing: Listing, columns: Columns) -> list[Written]:
    """Return each `return` without a value and `return None` of the source, in its order.

    `pass` is as wide as `None`, but stands in the column of a statement.
    """
    instructions, places = listing.instructions, listing.places
    if not places:
        return []
    others = {places[each.offset >> 1] for each in instructions if each.op not in WAYS_OUT}
    ends = {(place.end_line, place.end_column) for place in others if place is not None}
    found: set[Written] = set()
    for before, now in zip(instructions, instructions[1:]):
        if now.op != "RETURN" or not _is_none(before):
            continue
        place = places[now.offset >> 1]
        if place is None or place in others or place.line != place.end_line:
            continue
        width = place.end_column - place.column
        column = place.column - RETURN
        if width == len("None") and (column % columns.unit == 0 or (place.line, column - 2) in ends):
            found.add(Written(place.line, column, True))
        elif width == len("return"):
            found.add(Written(place.line, place.column, False))
    return sorted(found)


def _is_none(instruction: Instruction) -> bool:
    return instruction.op == "CONST" and instruction.arg is None


def _slots(body: list[ast.stmt], columns: Columns) -> list[Slot]:
    """Return where a bare `return` stands or may stand, with the lines around."""
    events: list[Slot | ast.stmt] = []
    work: list[tuple[list[ast.stmt], bool, bool] | Slot | ast.stmt] = [(body, True, False)]
    while work:
        one = work.pop()
        if isinstance(one, (Slot, ast.stmt)):
            events.append(one)
        else:
            work += reversed(_of_block(*one, columns))
    line = 0
    for event in events:
        if isinstance(event, Slot):
            event.before = line
        else:
            line = max(line, columns.first_line(event) or 0)
    line = FAR
    for event in reversed(events):
        if isinstance(event, Slot):
            event.behind = line
        else:
            line = columns.first_line(event) or line
    return [event for event in events if isinstance(event, Slot)]


Parts = list[tuple[list[ast.stmt], bool, bool] | Slot | ast.stmt]


def _of_block(block: list[ast.stmt], is_tail: bool, breaks: bool, columns: Columns) -> Parts:
    """Return the parts of a block in the order of the source.

    is_tail: what ends the block ends the function. breaks: so does a `break` in it.
    """
    parts: Parts = []
    column = columns.of_block(block)
    for place, stmt in enumerate(block):
        last = is_tail and place == len(block) - 1
        if isinstance(stmt, ast.Return) and stmt.value is None:
            parts.append(Slot(block, place, column))
        elif isinstance(stmt, ast.Break) and breaks:
            parts.append(Slot(block, place, column))
        else:
            parts += [stmt, *_inside(stmt, last, breaks, columns)]
    if is_tail and not (block and isinstance(block[-1], ENDS)):
        parts.append(Slot(block, len(block), column))
    return parts


def _inside(stmt: ast.stmt, is_tail: bool, breaks: bool, columns: Columns) -> Parts:
    """Return the blocks of a statement."""
    parts: Parts = []
    if isinstance(stmt, LOOPS):
        ends = is_tail and not stmt.orelse
        return [(stmt.body, False, ends), *([(stmt.orelse, is_tail, breaks)] if stmt.orelse else [])]
    has_else = bool(getattr(stmt, "orelse", None))
    for block, _, name in inner(stmt):
        falls = is_tail and not (isinstance(stmt, ast.Try) and name == "body" and has_else and block is stmt.body)
        parts.append((block, falls and name != "finalbody", breaks and name != "finalbody"))
    if isinstance(stmt, ast.If) and not has_else and is_tail:
        parts.append(Slot(stmt.orelse, 0, columns.of_block(stmt.body), stmt))
    return parts


def _fits(slot: Slot, one: Written) -> bool:
    if slot.column is not None and one.column >= 0 and slot.column != one.column:
        return False
    return slot.before <= one.line <= slot.behind


def _put(slot: Slot, one: Written) -> None:
    value = ast.Constant(value=None) if one.says_none else None
    stmt = ast.Return(value=value, lineno=one.line)
    step("line {}: a `return` stands there", one.line)
    if slot.place < len(slot.block):
        slot.block[slot.place] = stmt
    elif len(slot.block) == 1 and isinstance(slot.block[0], ast.Pass):
        slot.block[0] = stmt
    else:
        slot.block.append(stmt)
