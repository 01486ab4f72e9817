"""Normalise the values in a class body that depend on the location of the class in its file.

before: 7 stored as `__firstlineno__` by the compiler, right after `__module__` and `__qualname__`
after: 0, in both codes; a 7 that the program stores under that name stays a 7
"""

from __future__ import annotations

from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.versions.known import facts_of

NAME_STORES = frozenset({"STORE_NAME", "STORE_DEREF", "STORE_GLOBAL"})
"""Operations with which a class body stores the compiler's values about the class."""
HEAD = ("__module__", "__qualname__", "__firstlineno__")
"""The names that the compiler stores first in a class body, in this order."""
CELLS = frozenset({"__classcell__", "__classdictcell__"})
TAIL = frozenset({"CONST", "LOAD_CLOSURE", "COPY"})
"""Operations between the store of `__static_attributes__` and the end of a class body."""


def function_name(listing: Listing, item: Instruction) -> object:
    """Return the name that MAKE_FUNCTION gives its function if the code has none."""
    return listing.function_names.get(item.offset)


def placed(listing: Listing, store: int, value: object) -> object:
    """Return the value of a store in a class body, without the parts that depend on the class's place in its file.

    These parts are its first line, and the order of its attribute names, which some compilers take from a set.

    Args:
        listing: the listing of the class body.
        store: the index of the store.
        value: the constant that it stores.
    """
    items = listing.instructions
    name = items[store].arg
    if name == "__firstlineno__" and type(value) is int and store == 2 * len(HEAD) - 1 and is_head(listing):
        return 0
    if name == "__static_attributes__" and isinstance(value, tuple) and ends_class(items, store + 1):
        return tuple(sorted(value, key=repr))
    return value


def is_head(listing: Listing) -> bool:
    """Return whether code begins like a class body that stores its first line."""
    items = listing.instructions
    stores, loads = items[1 : 2 * len(HEAD) : 2], items[0 : 2 * len(HEAD) : 2]
    return (
        facts_of(listing.code.version, str(listing.code)).class_lines
        and [item.arg for item in stores if item.op in NAME_STORES] == [*HEAD]
        and loads[0].arg == "__name__"
        and all(item.op == "CONST" for item in loads[1:])
    )


def ends_class(items: list[Instruction], place: int) -> bool:
    """Return whether a class body ends at an index: only its cells are stored before it returns."""
    while place < len(items):
        item = items[place]
        if item.op == "RETURN":
            return True
        if item.op not in TAIL and not (item.op in NAME_STORES and item.arg in CELLS):
            return False
        place += 1
    return False
