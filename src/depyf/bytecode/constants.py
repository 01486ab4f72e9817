"""Compare constants: by type and value, and by identity if they have no literal."""

from __future__ import annotations

import struct
from collections.abc import Hashable

from depyf.bytecode.code import Code
from depyf.bytecode.set_order import is_fixed

ATOMS: frozenset[type] = frozenset({int, bool, str, bytes, type(None), type(Ellipsis)})


def key(value: object) -> Hashable:
    """Return a key that two constants share exactly when no program can distinguish them by type and value.

    `1`, `True` and `1.0` differ, and so do `0.0` and `-0.0`. Nested code, and objects without a literal, are equal only
    if they are the same object.

    >>> key(1) == key(True), key(0.0) == key(-0.0), key((1, "a")) == key((1, "a"))
    (False, False, True)
    """
    if type(value) in ATOMS:
        return (type(value).__name__, value)
    tokens: list[Hashable] = []
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if isinstance(item, tuple) and kind is tuple:
            tokens.append(("tuple", len(item)))
            pending.extend(reversed(item))
        elif isinstance(item, slice):
            tokens.append(("slice",))
            pending.extend((item.step, item.stop, item.start))
        elif isinstance(item, frozenset) and kind is frozenset:
            tokens.append(set_key(item))
        else:
            tokens.append(atom_key(item))
    return tokens[0] if len(tokens) == 1 else tuple(tokens)


def atom_key(value: object) -> Hashable:
    """Return the key of a constant that contains no other constant."""
    if isinstance(value, float) and type(value) is float:
        return ("float", struct.pack("<d", value))
    if isinstance(value, complex) and type(value) is complex:
        return ("complex", struct.pack("<dd", value.real, value.imag))
    if type(value) in ATOMS:
        return (type(value).__name__, value)
    if isinstance(value, Code) and value.origin is not None:
        return ("object", id(value.origin))
    return ("object", id(value))


def set_key(value: frozenset[object]) -> Hashable:
    """Return the key of a frozen set. A set that contains another set equals only itself, because it has no literal.

    The key includes the iteration order if that is the same in every process.
    """
    if any(isinstance(item, frozenset) for item in value):
        return ("object", id(value))
    keys = tuple([key(item) for item in value])
    return ("frozenset", keys if is_fixed(value) else frozenset(keys))
