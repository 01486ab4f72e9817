"""The results of operations on fresh containers, tuples and constants that run no code of the program.

Every function returns None if the outcome is unknown. Then the operation is observable, and its operands must be the
same on both sides.
"""

from __future__ import annotations

from collections.abc import Hashable

from depyf.verify.state import DictOf, EmptySet, ListOf, State
from depyf.verify.terms import Constant, Fresh, Pure, Term, TupleOf

KEY_TYPES = (str, int, bool, bytes, type(None))


def dict_key(state: State, term: Term) -> tuple[Hashable] | None:
    """Return, in a 1-tuple, the constant of a term if hashing and comparing it runs no code."""
    node = state.terms.nodes[term]
    if isinstance(node, Constant) and type(node.value) in KEY_TYPES:
        return (node.value,)
    return None


def index_of(state: State, term: Term) -> int | None:
    """Return the constant index of a term, or None."""
    node = state.terms.nodes[term]
    return node.value if isinstance(node, Constant) and type(node.value) is int else None


def slice_of(state: State, term: Term) -> slice | None:
    """Return the slice of a term if its bounds are constants."""
    node = state.terms.nodes[term]
    if not isinstance(node, Pure) or node.op != "slice":
        return None
    parts = [state.terms.nodes[part] for part in node.items]
    if not all(isinstance(part, Constant) for part in parts):
        return None
    bounds = [part.value for part in parts if isinstance(part, Constant)]
    if any(bound is not None and type(bound) is not int for bound in bounds) or bounds[2:] == [0]:
        return None
    return slice(*bounds)


def load_item(state: State, container: Term, index: Term) -> Term | None:
    """Return `container[index]`.

    Args:
        state: the state of both codes.
        container: the container.
        index: the index, a slice or a key.
    """
    content = state.get(container)
    if isinstance(content, DictOf):
        wanted = dict_key(state, index)
        entry = content.entries.get(wanted[0]) if wanted is not None else None
        return entry[1] if entry is not None else None
    items = state.items(container)
    if items is None:
        return None
    place = index_of(state, index)
    if place is not None:
        return items[place] if -len(items) <= place < len(items) else None
    part = slice_of(state, index)
    if part is None:
        return None
    node = state.terms.nodes[container]
    if isinstance(node, TupleOf):
        return state.terms.tuple_of(items[part])
    # A slice of a sequence of assumed length may be a tuple or a list.
    return state.make(ListOf(items[part])) if isinstance(node, Fresh) else None


def store_item(state: State, container: Term, index: Term, value: Term) -> bool:
    """Do `container[index] = value` on a fresh container, and return whether it could be done.

    Args:
        state: the state of both codes, which is changed.
        container: the container.
        index: the index, a slice or a key.
        value: the new item.
    """
    content = state.get(container)
    if isinstance(content, DictOf):
        wanted = dict_key(state, index)
        if wanted is None:
            return False
        kept = content.entries.get(wanted[0], (index, value))[0]
        state.heap[container] = DictOf({**content.entries, wanted[0]: (kept, value)})
        return True
    if not isinstance(content, ListOf):
        return False
    items = list(content.items)
    place = index_of(state, index)
    if place is not None:
        if not -len(items) <= place < len(items):
            return False
        items[place] = value
    else:
        part, new = slice_of(state, index), state.items(value)
        if part is None or new is None or part.step not in (None, 1):
            return False
        items[part] = new
    state.heap[container] = ListOf(tuple(items))
    return True


def delete_item(state: State, container: Term, index: Term) -> bool:
    """Do `del container[index]` on a fresh container, and return whether it could be done.

    Args:
        state: the state of both codes, which is changed.
        container: the container.
        index: the index, a slice or a key.
    """
    content = state.get(container)
    if isinstance(content, DictOf):
        wanted = dict_key(state, index)
        if wanted is None or wanted[0] not in content.entries:
            return False
        state.heap[container] = DictOf({k: entry for k, entry in content.entries.items() if k != wanted[0]})
        return True
    if not isinstance(content, ListOf):
        return False
    items = list(content.items)
    place = index_of(state, index)
    if place is not None:
        if not -len(items) <= place < len(items):
            return False
        del items[place]
    else:
        part = slice_of(state, index)
        if part is None:
            return False
        del items[part]
    state.heap[container] = ListOf(tuple(items))
    return True


def append(state: State, container: Term, value: Term) -> bool:
    """Append to a fresh list, and return whether it is one.

    Args:
        state: the state of both codes, which is changed.
        container: the list.
        value: the new item.
    """
    content = state.get(container)
    if not isinstance(content, ListOf):
        return False
    state.heap[container] = ListOf((*content.items, value))
    return True


def extend(state: State, container: Term, values: Term) -> bool:
    """Extend a fresh list by known items, and return whether it could be done.

    Args:
        state: the state of both codes, which is changed.
        container: the list.
        values: the value with the new items.
    """
    content, items = state.get(container), state.items(values)
    if not isinstance(content, ListOf) or items is None:
        return False
    state.heap[container] = ListOf(content.items + items)
    return True


def update(state: State, container: Term, values: Term, *, only_new: bool) -> bool:
    """Update a fresh dict by another, and return whether it could be done. `only_new`: an existing key raises.

    Args:
        state: the state of both codes, which is changed.
        container: the dict.
        values: the other dict.
        only_new: whether a key that exists already raises, so that the update cannot be done.
    """
    content, other = state.get(container), state.get(values)
    if not isinstance(content, DictOf) or not isinstance(other, DictOf):
        return False
    if only_new and not content.entries.keys().isdisjoint(other.entries):
        return False
    merged = dict(content.entries)
    for wanted, (name, value) in other.entries.items():
        merged[wanted] = (merged.get(wanted, (name, value))[0], value)
    state.heap[container] = DictOf(merged)
    return True


def build_dict(state: State, pairs: list[tuple[Term, Term]]) -> Term | None:
    """Return a fresh dict of constant keys."""
    entries: dict[Hashable, tuple[Term, Term]] = {}
    for name, value in pairs:
        wanted = dict_key(state, name)
        if wanted is None:
            return None
        entries[wanted[0]] = (entries.get(wanted[0], (name, value))[0], value)
    return state.make(DictOf(entries))


def truth(state: State, term: Term) -> bool | None:
    """Return the truth of a value if finding it out runs no code of the program."""
    node = state.terms.nodes[term]
    match node:
        case Constant(value=value) if type(value) in (*KEY_TYPES, float, complex, type(Ellipsis), frozenset):
            return bool(value)
        case TupleOf(items=items):
            return bool(items)
        case Fresh():
            content = state.get(term)
            if isinstance(content, ListOf):
                return bool(content.items)
            if isinstance(content, EmptySet):
                return False
            return bool(content.entries) if isinstance(content, DictOf) else True
        case _:
            return None
