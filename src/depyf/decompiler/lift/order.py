"""Decide which pending values can be written in place of their use without changing the order of evaluation.

Pending values are in the order of their computation. The expression that uses some of them is computed now, after all
of them. Writing a value in place moves it past every pending value that stays, and past every operand before it.
"""

from __future__ import annotations

import ast
from typing import Protocol

from depyf.decompiler.lift.nodes import IMPURE, LOCAL, PURE, Entry, Temp


class Pending(Protocol):
    """The values of a block that are computed and not used yet, in the order of their computation."""

    by_temp: dict[int, Entry]
    pending: list[Entry]

    def spill_through(self, last: Entry, stores: frozenset[str] = ...) -> None:
        """Assign every pending value up to `last` to temporaries."""


def plan(folder: Pending, temps: list[int]) -> set[int]:
    """Return the operands to write in place; the others become references.

    Assigns to temporaries the values that can neither be moved nor stay pending.
    """
    while True:
        entries = [folder.by_temp[temp] for temp in temps if temp in folder.by_temp]
        place = _places(folder.pending, {entry.temp for entry in entries})
        inlined = [entry for entry in entries if entry.uses == 1 and not entry.shared]
        blocked = _blocked(folder.pending, inlined, place)
        if blocked is None:
            return {entry.temp for entry in inlined}
        folder.spill_through(blocked)


def _places(pending: list[Entry], temps: set[int]) -> dict[int, int]:
    """Return the index of each of these values; most of them are among the last ones."""
    places: dict[int, int] = {}
    number = len(pending)
    while len(places) < len(temps):
        number -= 1
        if pending[number].temp in temps:
            places[pending[number].temp] = number
    return places


def _blocked(pending: list[Entry], operands: list[Entry], place: dict[int, int]) -> Entry | None:
    """Return the last operand that would have to move past a value with which it does not commute."""
    if not operands:
        return None
    inlined = {entry.temp for entry in operands}
    blocked: Entry | None = None
    behind: list[Entry] = []
    first = min(place[entry.temp] for entry in operands)
    for number in range(len(pending) - 1, first - 1, -1):
        entry = pending[number]
        if entry.temp not in inlined:
            behind.append(entry)
        elif any(not commute(entry, other) for other in behind):
            blocked = entry
            break
    used: list[Entry] = []
    for entry in operands:
        if any(place[entry.temp] < place[other.temp] and not commute(entry, other) for other in used):
            if blocked is None or place[entry.temp] > place[blocked.temp]:
                blocked = entry
        if entry.effect != PURE:
            used.append(entry)
    return blocked


def is_atom(entry: Entry) -> bool:
    """Return whether a value may be written twice instead of being named."""
    return isinstance(entry.expr, (ast.Name, ast.Constant, Temp)) and entry.effect < IMPURE


def commute(entry: Entry, other: Entry) -> bool:
    """Return whether two values may be computed in either order."""
    if entry.reads & other.writes or entry.writes & other.reads:
        return False
    return entry.effect < IMPURE or other.effect < IMPURE


__all__ = ["LOCAL", "commute", "is_atom", "plan"]
