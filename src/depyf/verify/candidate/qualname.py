"""Give recompiled code, and the code nested in it, the qualified names of the original."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Iterator

from depyf.bytecode.operand import RawInstruction
from depyf.verify.candidate.patch import Words
from depyf.verify.candidate.placeholders import SPARE
from depyf.verify.code_tree import rewrite_tree


def requalify(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """Return the code with `old`, at the start of all qualified names in it, replaced by `new`."""
    if old == new:
        return code

    def replaced(name: str) -> str:
        return new + name[len(old) :] if name == old or name.startswith(f"{old}.") else name

    return with_qualnames(code, replaced)


def requalify_part(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """Return the code with the function `old`, wherever it stands in a qualified name, replaced by `new`."""

    def replaced(name: str) -> str:
        return ".".join(new if part == old else part for part in name.split("."))

    return with_qualnames(code, replaced)


def with_qualnames(code: types.CodeType, replaced: Callable[[str], str]) -> types.CodeType:
    """Return the code with other qualified names, and those nested in it."""

    def requalify_one(current: types.CodeType) -> types.CodeType:
        # A code object in which nothing changes stays that very object: a program may hold it elsewhere too.
        consts = list(current.co_consts)
        for index in qualname_constants(current):
            value = consts[index]
            if isinstance(value, str):
                consts[index] = replaced(value)
        if any(new is not old for new, old in zip(consts, current.co_consts)):
            current = current.replace(co_consts=tuple(consts))
        qualname = getattr(current, "co_qualname", "")
        return current if replaced(qualname) == qualname else current.replace(co_qualname=replaced(qualname))

    return rewrite_tree(code, requalify_one)


def qualname_constants(code: types.CodeType) -> set[int]:
    """Return the indices of the constants that are qualified names: of class bodies, and of functions on the stack."""
    if not code.co_consts:
        return set()
    words = Words(code)
    # Where code objects do not carry their qualified names, MAKE_FUNCTION takes them from the stack.
    on_stack = not hasattr(code, "co_qualname")
    found = set()
    for load, use in zip(words.raws, words.raws[1:], strict=False):
        if load.name != "LOAD_CONST":
            continue
        names_class = use.name == "STORE_NAME" and code.co_names[use.arg] == "__qualname__"
        if names_class or on_stack and use.name == "MAKE_FUNCTION":
            found.add(load.arg)
    return found


def requalify_made(code: types.CodeType, original: types.CodeType) -> types.CodeType:
    """Return the code with functions that it makes of the very code objects of `original` named as there.

    Where code objects do not carry their qualified names, that is a constant beside the code object. Raises
    `DecompilationError` where the bytecode has no room for it.
    """
    if hasattr(code, "co_qualname"):
        return code
    wanted = {id(made): name for made, name, _ in _made(original, Words(original))}
    words, consts = Words(code), list(code.co_consts)
    found = list(_made(code, words))
    loads = Counter(raw.arg for raw in words.raws if raw.name == "LOAD_CONST")
    # A constant that is loaded as the name of such functions alone needs no other place.
    named = Counter((load.arg, wanted.get(id(made), name)) for made, name, load in found)
    for made, name, load in found:
        new = wanted.get(id(made), name)
        if new == name:
            continue
        if load.arg and named[load.arg, new] == loads[load.arg]:
            consts[load.arg] = new
        else:
            spare = (place for place, const in enumerate(consts) if isinstance(const, str) and const in SPARE)
            index = next(spare, len(consts))
            consts[index : index + 1] = [new]
            words.overwrite(load, words.encode("LOAD_CONST", index), keep_caches=False)
    return code.replace(co_code=bytes(words.data), co_consts=tuple(consts))


def _made(code: types.CodeType, words: Words) -> Iterator[tuple[types.CodeType, object, RawInstruction]]:
    """Yield the code object and the name of each function that is made, and the instruction that loads the name."""
    for of_code, of_name, use in zip(words.raws, words.raws[1:], words.raws[2:], strict=False):
        if use.name == "MAKE_FUNCTION" and of_code.name == of_name.name == "LOAD_CONST":
            made = code.co_consts[of_code.arg]
            if isinstance(made, types.CodeType):
                yield made, code.co_consts[of_name.arg], of_name
