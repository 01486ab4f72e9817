"""Tuples of the contents of an escaped list.

LIST_TO_TUPLE of an exact list runs no code. Its result depends on the current contents of the list, which only
observables change. Both sides perform observables between two moments, so within one moment a list gives one tuple. A
source writes `(*items,)`, which extends an empty list first.
"""

from __future__ import annotations

from depyf.verify.frame import Frame
from depyf.verify.terms import Sort, Term


def is_seen_list(frame: Frame, term: Term) -> bool:
    """Return whether a value is surely a list that has escaped."""
    return frame.state.exact_type(term) is Sort.LIST and frame.state.get(term) is None


def tuple_now(frame: Frame, items: Term) -> Term:
    """Return the tuple of a list's current contents."""
    return frame.terms.pure("tuple of a list", (items,), len(frame.terms.moments))


def take_all(frame: Frame) -> bool:
    """Execute the LIST_EXTEND of an empty list by a list, and the LIST_TO_TUPLE after it.

    Only the stack may hold the empty list: then nobody sees it before it is a tuple.
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
