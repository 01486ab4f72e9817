"""Exits at the end of a block: choose the author's `return`, `return None`, `continue`, `pass` or nothing.

Before: if c: return          After:  if c: return None
        f()                           f()
                                      return None
"""

from __future__ import annotations

import ast

from depyf.bytecode.records import dataclass
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.evidence import RETURNS, Kind, Written
from depyf.decompiler.passes.source_form.forms import EXITS, FAR, LOOPS
from depyf.decompiler.passes.walk import compound, inner
from depyf.decompiler.steps import step

STATEMENTS: dict[Kind, type[ast.stmt]] = {
    Kind.RETURN: ast.Return,
    Kind.NONE: ast.Return,
    Kind.CONTINUE: ast.Continue,
    Kind.BREAK: ast.Break,
    Kind.PASS: ast.Pass,
}
NOTHING: frozenset[Kind] = frozenset()
AGAIN = frozenset({Kind.CONTINUE})
LEFT = frozenset({Kind.BREAK})


@dataclass(slots=True, eq=False)
class Slot:
    """A possible place of a statement: the place of the statement at `place` of a block, or the block's end.

    kinds: the equivalent kinds of statements there. is_implied: the present statement is the same as none.
    is_block: the block exists, as opposed to only having room. column: of the block, if known.
    before, behind: the last known line before it, and the first after it.
    """

    block: list[ast.stmt]
    place: int
    kinds: frozenset[Kind]
    column: int | None
    is_implied: bool = False
    is_block: bool = True
    before: int = 0
    behind: int = FAR

    @property
    def present(self) -> ast.stmt | None:
        """The statement that is there now."""
        return self.block[self.place] if self.place < len(self.block) else None


@dataclass(frozen=True, slots=True)
class Ends:
    """The kinds of exits that are equivalent to reaching the end of a block (`here`), and to `break` (`broken`)."""

    here: frozenset[Kind]
    broken: frozenset[Kind]


Part = tuple[list[ast.stmt], Ends, int | None] | Slot | int
"""A block with its column if its statements do not show it, a place for an exit, or a line."""


def restore_ways_out(
    body: list[ast.stmt],
    columns: Columns,
    written: list[Written],
    ending: set[ast.stmt],
    *,
    has_all: bool = True,
    is_generator: bool = False,
) -> bool:
    """Add the exits that only the source has, and remove the exits that only the statements have.

    Args:
        body: the statements, changed in place.
        columns: the columns of the statements.
        written: the exits that locations show, in the order of the source.
        ending: statements that never fall through.
        has_all: whether an exit that fills its block and is not in `written` does not exist.
        is_generator: whether the exits are those of a generator, for code with lines only: they are `return`.

    Returns:
        whether anything changed.
    """
    is_changed = False
    slots = _slots(body, columns if written else None, ending)
    for exit_ in written:
        fits = [slot for slot in slots if _fits(slot, exit_)]
        if fits:
            slot = max(
                reversed(fits) if all(exit_.column == slot.column for slot in fits) else fits,
                key=lambda slot: _likely(slot, has_all),
            )
            slots.remove(slot)
            if has_all or not _is_likelier_as_it_is(slot, exit_, is_generator):
                _put(slot, exit_, columns)
                is_changed = True
    return _drop_implied(slots, has_all) or is_changed


def _drop_implied(slots: list[Slot], has_all: bool) -> bool:
    """Remove the implied exits that the source does not contain; return whether there were any."""
    is_changed = False
    for slot in reversed(slots):
        if slot.is_implied and (len(slot.block) > 1 or (has_all and not isinstance(slot.present, ast.Continue))):
            step("remove an exit that the source does not have")
            slot.block[slot.place :] = [] if slot.place else [ast.Pass()]
            is_changed = True
    return is_changed


def drop_unreached_breaks(body: list[ast.stmt], ending: set[ast.stmt]) -> bool:
    """Remove each `break` after a statement that never falls through, or before an `else` that has the `break`.

    Return whether there was any.
    """
    is_changed = False
    work = [body]
    for block in work:  # The list grows during the iteration.
        kept = [after for after, before in zip(block, [None, *block]) if not _is_unreached(after, before, ending)]
        is_changed |= len(kept) < len(block)
        block[:] = kept
        for stmt in compound(block):
            if isinstance(stmt, ast.Try) and len(stmt.body) > 1 and isinstance(stmt.body[-1], ast.Break):
                if [type(child) for child in stmt.orelse] == [ast.Break]:
                    del stmt.body[-1]
                    is_changed = True
            work += [below for below, _, _ in inner(stmt)]
    return is_changed


def _is_unreached(stmt: ast.stmt, before: ast.stmt | None, ending: set[ast.stmt]) -> bool:
    return isinstance(stmt, ast.Break) and before in ending


def _slots(body: list[ast.stmt], columns: Columns | None, ending: set[ast.stmt]) -> list[Slot]:
    """Return the present and possible places of exits, with lines and columns only if `columns` is given."""
    events: list[Slot | int] = []
    work: list[Part] = [(body, Ends(RETURNS, NOTHING), None)]
    while work:
        event = work.pop()
        if isinstance(event, tuple):
            work += reversed(_of_block(*event, columns, ending))
        else:
            events.append(event)
    if columns is not None:
        _note_lines(events)
    return [event for event in events if isinstance(event, Slot)]


def _note_lines(events: list[Slot | int]) -> None:
    """Record in each place the last known line before it, and the first after it."""
    line = 0
    for event in events:
        if isinstance(event, Slot):
            event.before = line
        else:
            line = max(line, event)
    line = FAR
    for event in reversed(events):
        if isinstance(event, Slot):
            event.behind = line
        else:
            line = event


def _of_block(
    block: list[ast.stmt], ends: Ends, beside: int | None, columns: Columns | None, ending: set[ast.stmt]
) -> list[Part]:
    """Return the parts of a block in source order; `beside` is the column of the statement's other blocks."""
    parts: list[Part] = []
    column = _column(block, columns)
    column = beside if column is None else column
    for place, stmt in enumerate(block):
        here = ends.here if place == len(block) - 1 else LEFT if isinstance(block[place + 1], ast.Break) else NOTHING
        if isinstance(stmt, ast.Return) and stmt.value is None:
            kinds = RETURNS | LEFT if ends.broken & RETURNS else RETURNS
            parts.append(Slot(block, place, _or_pass(kinds, here, block), column, here == RETURNS))
        elif isinstance(stmt, ast.Continue):
            parts.append(Slot(block, place, _or_pass(AGAIN, here, block), column, here == AGAIN))
        elif isinstance(stmt, ast.Break):
            if (other := _else_before(block[:place], columns)) is not None:
                parts.append(other)
            parts.append(Slot(block, place, ends.broken | LEFT, column))
        else:
            parts += [*_lines(stmt, columns), *_inside(stmt, Ends(here, ends.broken), columns)]
    if not (block and (isinstance(block[-1], EXITS) or block[-1] in ending)):
        parts.append(Slot(block, len(block), ends.here, column))
    return parts


def _column(block: list[ast.stmt], columns: Columns | None) -> int | None:
    return None if columns is None else columns.of_block(block)


def _lines(node: ast.stmt | ast.ExceptHandler, columns: Columns | None) -> list[int]:
    return [] if columns is None else columns.lines(node)


def _else_before(block: list[ast.stmt], columns: Columns | None) -> Slot | None:
    """Return a possible place in the `else` of the last `try` for the statement after it: its clauses leave."""
    stmt = block[-1] if block else None
    if not isinstance(stmt, ast.Try) or stmt.orelse or stmt.finalbody:
        return None
    if not all(isinstance(clause.body[-1], EXITS) for clause in stmt.handlers):
        return None
    return Slot(stmt.orelse, 0, LEFT, _column(stmt.body, columns), is_block=False)


def _or_pass(kinds: frozenset[Kind], here: frozenset[Kind], block: list[ast.stmt]) -> frozenset[Kind]:
    """Return the possible kinds at the place of an exit; `pass` if the block has nothing else and it is equivalent."""
    return kinds | {Kind.PASS} if here == kinds and len(block) == 1 else kinds


def _inside(stmt: ast.stmt, ends: Ends, columns: Columns | None) -> list[Part]:
    """Return the blocks of a statement."""
    parts: list[Part] = []
    if isinstance(stmt, LOOPS):
        parts.append((stmt.body, Ends(AGAIN, ends.here & RETURNS), None))
        if stmt.orelse:
            parts.append((stmt.orelse, ends, _column(stmt.body, columns)))
    else:
        has_else = bool(getattr(stmt, "orelse", None))
        for block, owner, name in _in_order(inner(stmt)):
            if isinstance(owner, ast.ExceptHandler):
                parts += _lines(owner, columns)
            goes_on = isinstance(stmt, ast.Try) and (name == "finalbody" or (block is stmt.body and has_else))
            parts.append((block, Ends(NOTHING, NOTHING) if goes_on else ends, None))
        if isinstance(stmt, ast.Try) and isinstance(stmt.body[-1], ast.Break):
            parts.append(Slot(stmt.orelse, 0, LEFT, _column(stmt.body, columns), is_block=False))
    if isinstance(stmt, (ast.If, *LOOPS)) and not stmt.orelse:
        parts.append(Slot(stmt.orelse, 0, ends.here, _column(stmt.body, columns), is_block=False))
    return parts


def _in_order(parts: list[tuple[list[ast.stmt], ast.AST, str]]) -> list[tuple[list[ast.stmt], ast.AST, str]]:
    """Return the blocks of a statement in the order of the source: clauses precede `else` and `finally`."""
    later = [part for part in parts if part[2] in ("orelse", "finalbody")]
    return [part for part in parts if part not in later] + later


def _fits(slot: Slot, exit_: Written) -> bool:
    if exit_.kind not in slot.kinds:
        return False
    if slot.column is not None and slot.column != exit_.column:
        return False
    return slot.before <= exit_.line <= slot.behind


def _likely(slot: Slot, has_all: bool) -> tuple[bool, bool, int]:
    """Return how probable a statement is in a slot, compared with the other slots that it fits: no block is empty."""
    return slot.column is not None if has_all else _is_empty(slot), slot.present is not None, slot.before


def _is_pass(block: list[ast.stmt]) -> bool:
    return [type(statement) for statement in block] == [ast.Pass]


def _is_empty(slot: Slot) -> bool:
    return slot.is_block and all(isinstance(stmt, (ast.Pass, ast.Return, ast.Continue)) for stmt in slot.block)


def _is_likelier_as_it_is(slot: Slot, exit_: Written, is_generator: bool) -> bool:
    """Return whether a line more probably has `break`, or `pass` in a block that falls through.

    A function that returns values ends with `return None`, and a generator with `return`.
    """
    present = slot.present
    if is_generator and exit_.kind is Kind.RETURN and (isinstance(present, ast.Break) or _is_pass(slot.block)):
        return False
    if isinstance(present, ast.Break):
        return True
    return present is None and exit_.kind is not Kind.NONE and (_is_empty(slot) or _ends_idly(slot.block))


def _ends_idly(block: list[ast.stmt]) -> bool:
    """Return whether the last statement in a block has no operation: the end of the block has its line."""
    last: ast.stmt | None = None
    while block:
        last = block[-1]
        parts = _in_order(inner(last))
        block = parts[-1][0] if parts else []
    return isinstance(last, (ast.Break, ast.Continue, ast.Pass))


def _put(slot: Slot, exit_: Written, columns: Columns) -> None:
    stmt = STATEMENTS[exit_.kind]()
    if exit_.kind is Kind.NONE:
        stmt = ast.Return(value=ast.Constant(value=None))
    stmt.lineno = exit_.line
    if exit_.column is not None:
        columns.starts[stmt] = exit_.line, exit_.column
    step("line {}: write `{}`", exit_.line, exit_.kind.value)
    if slot.present is not None:
        slot.block[slot.place] = stmt
    elif len(slot.block) == 1 and isinstance(slot.block[0], ast.Pass):
        slot.block[0] = stmt
    else:
        slot.block.append(stmt)
