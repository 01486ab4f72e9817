"""Tuples of what is in a list that others have seen.

LIST_TO_TUPLE of an exact list runs no code. What it gives depends on what is in the list by then, and that changes by
nothing but observables, which both sides do between two moments: in one moment a list gives one tuple. A source has
`(*items,)` for it, which extends an empty list first.
"""

from __future__ import annotations

from depyf.verify.frame import Frame
from depyf.verify.terms import Sort, Term


def is_seen_list(frame: Frame, term: Term) -> bool:
    """Return whether a value is surely a list, and one that others have seen."""
    return frame.state.exact_type(term) is Sort.LIST and frame.state.get(term) is None


def tuple_now(frame: Frame, items: Term) -> Term:
    """Return the tuple of what is in a list now."""
    return frame.terms.pure("tuple of a list", (items,), len(frame.terms.moments))


def take_all(frame: Frame) -> bool:
    """Do the LIST_EXTEND of an empty list by a list, and the LIST_TO_TUPLE behind it.

    Nobody but the stack may hold the empty list: then nobody sees it before it is a tuple.
    """
    after = frame.side.place + 1
    following = frame.listing.instructions[after] if after < len(frame.listing.instructions) else None
    if frame.item.arg != 1 or following is None or following.op != "LIST_TO_TUPLE":
        return False
    target, items = frame.top(2)
    is_empty = frame.state.get(target) is not None and frame.state.items(target) == ()
    if not is_empty or not is_seen_list(frame, items) or frame.state.references(frame.side, target) != 1:
        return False
    frame.pop_many(2)
    frame.push(tuple_now(frame, items))
    frame.side.place = after + 1
    return True
