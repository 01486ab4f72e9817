"""The iteration order of a constant set, and how to write a display that gives the same order.

    {128, 64}    yields 128 first, {64, 128} yields 64
    {'b', 'a'}   yields either first, depending on the string hashes of this process

A hash table that is filled in the order of the display determines the order. Some compilers fill a second table in the
order of the first, and reading a file fills one more. If hashes are the same in every process, the order belongs to the
program, and the text must reproduce it. Otherwise no text can.
"""

from __future__ import annotations

import marshal
import random
from collections.abc import Iterable, Sequence

NUMBERS = frozenset({int, bool, float, complex})
"""Types whose values have the same hash in every process."""
MOST_STEPS = 100_000
"""The most insertions into tables during the search for an order."""


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
    """Return the members in an order that, when filled in, gives this set's iteration order; None if there is none.

    Args:
        times: how often a set is filled, each time in the order of the previous one.

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
    """Return the members in their order in a text: the same order in every process.

    Args:
        times: how often a set is filled on the way from the text, as for `filled_in`.
    """
    members = filled_in(value, times) if is_fixed(value) else None
    return tuple(sorted(value, key=_rank)) if members is None else members


def _rank(item: object) -> tuple[str, int, bytes]:
    """Return the sort key of a member whose order is free: by type, integers by value, texts by character."""
    if isinstance(item, int):
        return type(item).__name__, item, b""
    if isinstance(item, str):
        return "str", 0, item.encode("utf-8", "surrogatepass")
    try:
        return type(item).__name__, 0, marshal.dumps(item)  # type: ignore[arg-type]  # most constants can be marshalled
    except ValueError:
        return type(item).__name__, 0, b""


def _misses(order: Sequence[object], wanted: Sequence[object], times: int) -> int:
    """Return the number of positions at which a set filled in this order differs from the wanted order."""
    for _ in range(times - 1):
        order = tuple(frozenset(order))
    return sum(mine is not its for mine, its in zip(frozenset(order), wanted, strict=True))
