"""What a constant of a class body says, apart from where the class stands."""

from __future__ import annotations

from depyf.bytecode.listing import Instruction, Listing

NAME_STORES = frozenset({"STORE_NAME", "STORE_DEREF", "STORE_GLOBAL"})
"""Operations by which a class body stores what the compiler has to say of the class."""


def function_name(listing: Listing, item: Instruction) -> object:
    """Return how MAKE_FUNCTION names its function where the code does not, without the names around it."""
    return placed("__qualname__", listing.function_names.get(item.offset))


def placed(name: object, value: object) -> object:
    """Return what a constant says that a class body stores under a name, without what its place in the file decides.

    That is the line of the class, the names around its own, and the order of a set of names.
    """
    if name == "__qualname__" and isinstance(value, str):
        return value.rpartition(".")[2]
    if name == "__firstlineno__" and isinstance(value, int):
        return 0
    if name == "__static_attributes__" and isinstance(value, tuple):
        return tuple(sorted(value, key=repr))
    return value
