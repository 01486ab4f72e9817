"""Put the sets of the original back as constants if no text determines their iteration order.

before: frozenset({'a', 'b'}), which the compiler filled in the order of the text
after: the set object of the original, which yields 'b' first in this process
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Mapping

from depyf.bytecode.constants import key
from depyf.bytecode.host import codes_in_order
from depyf.bytecode.set_order import filled_in, is_fixed
from depyf.bytecode.versions.known import facts_of
from depyf.bytecode.versions.running import RUNNING
from depyf.errors import DecompilationError

Sets = Mapping[Hashable, list[frozenset[object]]]


def sets_of(original: types.CodeType) -> Sets:
    """Return by their members the sets of code and nested code whose order no text determines."""
    by_members: dict[Hashable, list[frozenset[object]]] = {}
    times = facts_of(RUNNING, original.co_name).set_fills
    for code in codes_in_order(original):
        for const in code.co_consts:
            if type(const) is frozenset and not (is_fixed(const) and filled_in(const, times)):
                same = by_members.setdefault(members(const), [])
                if all(const is not other for other in same):
                    same.append(const)
    return by_members


def own_sets(code: types.CodeType, sets: Sets) -> types.CodeType:
    """Return the code with sets of the original in place of sets with the same members.

    Raises `DecompilationError` if the original has two such sets with different orders.
    """
    consts = list(code.co_consts)
    for place, const in enumerate(consts):
        same = sets.get(members(const), []) if type(const) is frozenset else []
        if len({tuple(map(key, same_set)) for same_set in same}) > 1:
            raise DecompilationError("sets of the same members in different orders", code=code.co_name)
        if same:
            consts[place] = same[0]
    is_changed = any(new is not old for new, old in zip(consts, code.co_consts, strict=True))
    return code.replace(co_consts=tuple(consts)) if is_changed else code


def members(value: frozenset[object]) -> Hashable:
    """Return a key for the members of a set, independent of their order."""
    return frozenset(map(key, value))
