"""In which order a constant set is iterated over, and how a display must be written that gives the same order.

    {128, 64}    goes through 128 first, {64, 128} through 64
    {'b', 'a'}   goes through either first, as this process hashes texts

The order is that of a table which is filled in the order of the display. Some compilers fill a second table in the
order of the first, and who reads a file fills one more. Where hashes are the same in every process,
the order is the program's, and a text must have it; else no text can say it.
"""

from __future__ import annotations

import marshal
import random
from collections.abc import Iterable, Sequence

NUMBERS = frozenset({int, bool, float, complex})
"""Types whose values have the same hash in every process."""
MOST_STEPS = 100_000
"""How many members are put into tables while an order is looked for."""


def is_fixed(value: frozenset[object]) -> bool:
    """Return whether a set is iterated over in the same order in every process."""
    pending: list[Iterable[object]] = [value]
    while pending:
        for item in pending.pop():
            if type(item) is tuple:
                pending.append(item)
            elif type(item) not in NUMBERS or item != item:
                return False
    return True


def filled_in(value: frozenset[object], times: int = 1) -> tuple[object, ...] | None:
    """Return the members in an order in which a set can be filled that is iterated over as this one; None for none.

    times: how often it is filled, each time in the order of the one before.

    >>> filled_in(frozenset([128, 64]))
    (128, 64)
    """
    wanted = tuple(value)
    for order in (tuple(sorted(wanted, key=_rank)), wanted, tuple(reversed(wanted))):
        if _misses(order, wanted, times) == 0:
            return order
    order, least = wanted, _misses(wanted, wanted, times)
    chance = random.Random(len(wanted))
    for _ in range(MOST_STEPS // (times * (len(wanted) + 1))):
        other = list(order)
        other.insert(chance.randrange(len(wanted)), other.pop(chance.randrange(len(wanted))))
        misses = _misses(other, wanted, times)
        if misses <= least:
            order, least = tuple(other), misses
        if not least:
            return order
    return None


def written(value: frozenset[object], times: int = 1) -> tuple[object, ...]:
    """Return the members in the order in which a text has them: the same one in every process.

    times: how often a set is filled on the way from the text, as for `filled_in`.
    """
    found = filled_in(value, times) if is_fixed(value) else None
    return tuple(sorted(value, key=_rank)) if found is None else found


def _rank(item: object) -> tuple[str, int, bytes]:
    """Return where a member stands that may stand anywhere: by type, integers by value, texts by character."""
    if isinstance(item, int):
        return type(item).__name__, item, b""
    if isinstance(item, str):
        return "str", 0, item.encode("utf-8", "surrogatepass")
    try:
        return type(item).__name__, 0, marshal.dumps(item)  # type: ignore[arg-type]  # most constants can be marshalled
    except ValueError:
        return type(item).__name__, 0, b""


def _misses(order: Sequence[object], wanted: Sequence[object], times: int) -> int:
    """Return at how many places a set that is filled in this order has another member than is wanted there."""
    for _ in range(times - 1):
        order = tuple(frozenset(order))
    return sum(mine is not its for mine, its in zip(frozenset(order), wanted, strict=True))
