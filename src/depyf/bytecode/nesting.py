"""Convert code objects within code objects, from the inside out and without recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from depyf.bytecode.code import CO_NEWLOCALS, CO_OPTIMIZED, Code

Outer = TypeVar("Outer")


def nest(
    root: Outer,
    qualname: str,
    children: Callable[[Outer, str], list[tuple[Outer, str]]],
    build: Callable[[Outer, str, Mapping[int, Code]], Code],
) -> Code:
    """Convert a code object and its nested ones, each object once.

    Args:
        root: the outermost code object: a live one, or the fields of a marshalled one.
        qualname: the qualified name of `root`.
        children: returns the directly nested objects of an object with a given name, each with its qualified name.
        build: makes the `Code` of an object with a given name; those of its children are given by identity.
    """
    done: dict[int, Code] = {}
    stack = [(root, qualname, False)]
    while stack:
        current, name, is_ready = stack.pop()
        if id(current) in done:
            continue
        if is_ready:
            done[id(current)] = build(current, name, done)
            continue
        stack.append((current, name, True))
        stack.extend((inner, inner_name, False) for inner, inner_name in children(current, name))
    return done[id(root)]


def inner_prefix(qualname: str, name: str, flags: int) -> str:
    """Return the prefix of a nested definition's qualified name.

    For code objects without a qualified name.

    Args:
        qualname: the qualified name of the code around the definition.
        name: the plain name of that code.
        flags: the `co_flags` of that code, which show whether it is a function's.

    Returns:
        the prefix with its last dot: `f.<locals>.` in a function, `C.` in a class, empty in a module.
    """
    if name == "<module>":
        return ""
    is_function = flags & CO_OPTIMIZED and flags & CO_NEWLOCALS
    return f"{qualname}.<locals>." if is_function else f"{qualname}."
