"""Put objects without a literal back as constants; the source has a name for each of them."""

from __future__ import annotations

import types
from collections.abc import Mapping

from depyf.verify.candidate.patch import Words

SPARE_NAMES = tuple(f"of none, {number}" for number in range(8))
"""Names that belong to no placeholder, for spare constants."""


def put_back(
    code: types.CodeType, placeholders: Mapping[str, object], *, stood_first: bool = False
) -> types.CodeType:
    """Return the code with each load of a placeholder's name replaced by a load of its object as a constant.


    The object is a constant again, as in the original, and not bound to a global name. So the program cannot rebind it,
    and the user's module globals do not change. Nested code is left to the caller. Raises `NoRoom` if the bytecode has
    no room for it.

    Args:
        code: the code compiled from the source.
        placeholders: the objects, by the names that stand for them.
        stood_first: texts stand for the objects among the constants, because these had to come first: see `stand_in`.
    """
    code = put_back_code(code, placeholders)
    if stood_first:
        code = code.replace(co_consts=tuple(_meant(const, placeholders) for const in code.co_consts))
    if placeholders.keys().isdisjoint(code.co_names):
        return code
    words = Words(code)
    # The first constant is the docstring if it is a string, so it never belongs to a placeholder.
    consts = list(code.co_consts) or [None]
    index_of = {id(value): index for index, value in enumerate(consts) if index}
    for raw in words.raws:
        if raw.name not in ("LOAD_GLOBAL", "LOAD_NAME"):
            continue
        # If calls take a NULL, LOAD_GLOBAL's low bit requests it.
        shift = raw.name == "LOAD_GLOBAL" and "PUSH_NULL" in words.number
        name = code.co_names[raw.arg >> shift]
        if name not in placeholders:
            continue
        value = placeholders[name]
        index = index_of.get(id(value))
        if index is None:
            index = index_of[id(value)] = len(consts)
            consts.append(value)
        load = words.encode("LOAD_CONST", index)
        null = words.encode("PUSH_NULL", 0) if shift and raw.arg & 1 else b""
        words.overwrite(raw, load + null if words.facts.null_above else null + load, keep_caches=False)
    return code.replace(co_code=bytes(words.data), co_consts=tuple(consts))


def stand_in(name: str) -> str:
    """Return the string that stands for a placeholder's object among the constants when these must come first."""
    return f"<placeholder {name}>"


SPARE = tuple(map(stand_in, SPARE_NAMES))
"""Constants that may be replaced by others."""


def _meant(const: object, placeholders: Mapping[str, object]) -> object:
    """Return the object that a constant stands for."""
    if not isinstance(const, str) or not const.startswith("<placeholder "):
        return const
    return next((value for name, value in placeholders.items() if stand_in(name) == const), const)


def put_back_code(code: types.CodeType, placeholders: Mapping[str, object]) -> types.CodeType:
    """Return the code with the lambdas that name code objects replaced by those code objects."""
    return code.replace(co_consts=tuple(_own_code(const, placeholders) for const in code.co_consts))


def _own_code(const: object, placeholders: Mapping[str, object]) -> object:
    """Return the code object that a lambda names, if the lambda does nothing else: `lambda x: object_code(y)`."""
    if not isinstance(const, types.CodeType) or const.co_name != "<lambda>" or len(const.co_names) != 1:
        return const
    named = placeholders.get(const.co_names[0])
    fits = isinstance(named, types.CodeType) and set(named.co_freevars) == set(const.co_freevars)
    return named if fits else const
