"""Give recompiled code, and the code nested in it, the qualified names of the original."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.bytecode.operand import RawInstruction
from depyf.verify.candidate.patch import Words
from depyf.verify.candidate.placeholders import SPARE
from depyf.verify.code_tree import rewrite_tree

PROLOGUE = frozenset({"MAKE_CELL", "COPY_FREE_VARS", "RESUME", "CACHE", "NOP"})
"""Operations that may precede the first instruction that the compiler writes for the body of a class."""
NAMED_STORES = frozenset({"STORE_NAME", "STORE_GLOBAL"})

Load = tuple[RawInstruction, object]
"""The instruction that loads a constant, and the constant."""


def qualname_of(code: types.CodeType) -> str:
    """Return the qualified name of a function's code. Code without its own qualified name takes it from nested code."""
    if hasattr(code, "co_qualname"):
        return str(code.co_qualname)
    if any(isinstance(const, types.CodeType) for const in code.co_consts):
        for function_code, name, _ in _made(code, Words(code)):
            class_name = name_of_class(function_code, Words(function_code).raws)
            said_name = name if class_name is None else function_code.co_consts[class_name.arg]
            ending = f".<locals>.{function_code.co_name}"
            if isinstance(said_name, str) and said_name.endswith(ending):
                return said_name.removesuffix(ending)
    return code.co_name


def requalify(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """Return the code with the prefix `old` of all qualified names in it replaced by `new`.

    Raises `NoRoom` if the bytecode has no room for it.
    """
    if old == new:
        return code

    def replaced(name: str) -> str:
        return new + name[len(old) :] if name == old or name.startswith(f"{old}.") else name

    return with_qualnames(code, replaced)


def requalify_part(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """Return the code with the function `old` replaced by `new` anywhere in qualified names."""

    def replaced(name: str) -> str:
        return ".".join(new if part == old else part for part in name.split("."))

    return with_qualnames(code, replaced)


def with_qualnames(code: types.CodeType, replaced: Callable[[str], str]) -> types.CodeType:
    """Return the code, including nested code, with other qualified names."""

    def requalify_one(current: types.CodeType) -> types.CodeType:
        # An unchanged code object stays the same object, because a program may also hold it elsewhere.
        words = Words(current)
        loads = [(load, replaced(name)) for load, name in said(current, words) if isinstance(name, str)]
        current = with_loaded(current, words, loads)
        qualname = getattr(current, "co_qualname", "")
        return current if replaced(qualname) == qualname else current.replace(co_qualname=replaced(qualname))

    return rewrite_tree(code, requalify_one)


def said(code: types.CodeType, words: Words) -> Iterator[Load]:
    """Yield the loads of qualified names that the compiler wrote: of the class, and of functions on the stack."""
    class_name = name_of_class(code, words.raws)
    if class_name is not None:
        yield class_name, code.co_consts[class_name.arg]
    # If code objects have no qualified names, MAKE_FUNCTION takes them from the stack.
    if not hasattr(code, "co_qualname"):
        for load, use in zip(words.raws, words.raws[1:], strict=False):
            if load.name == "LOAD_CONST" and use.name == "MAKE_FUNCTION":
                yield load, code.co_consts[load.arg]


def name_of_class(code: types.CodeType, raws: Sequence[RawInstruction]) -> RawInstruction | None:
    """Return the load of the class's qualified name in a class body, or None if the code is not a class body.

    A class body begins with `__module__ = __name__` and this name. A program may store other names later.
    """
    first = [raw for raw in raws[: len(code.co_cellvars) + 8] if raw.name not in PROLOGUE][:4]
    if len(first) < 4 or code.co_flags & CO_OPTIMIZED:
        return None
    _, module, load, name = first
    for raw, wanted in ((module, "__module__"), (name, "__qualname__")):
        if raw.name not in NAMED_STORES or code.co_names[raw.arg] != wanted:
            return None
    return load if load.name == "LOAD_CONST" else None


def requalify_made(code: types.CodeType, original: types.CodeType) -> types.CodeType:
    """Return the code with the original's names for functions that are made from code objects of `original` itself.

    If code objects have no qualified names, the name is a constant beside the code object. Raises `NoRoom` if the
    bytecode has no room for it.
    """
    if hasattr(code, "co_qualname"):
        return code
    wanted = {id(function_code): name for function_code, name, _ in _made(original, Words(original))}
    words = Words(code)
    return with_loaded(
        code, words, [(load, wanted.get(id(function_code), name)) for function_code, name, load in _made(code, words)]
    )


def with_loaded(code: types.CodeType, words: Words, wanted: Sequence[Load]) -> types.CodeType:
    """Return the code with other constants for some load instructions. Other loads of these constants do not change.

    Raises `NoRoom` if an instruction is too short.

    Args:
        code: the code.
        words: its instructions, which are changed.
        wanted: load instructions, each with its new constant.
    """
    consts = list(code.co_consts)
    changed = [(load, new) for load, new in wanted if consts[load.arg] != new]
    if not changed:
        return code
    loads = Counter(raw.arg for raw in words.raws if raw.name == "LOAD_CONST")
    named = Counter((load.arg, new) for load, new in wanted)
    for load, new in changed:
        # The first constant of a function may be its docstring.
        is_own = named[load.arg, new] == loads[load.arg] and (load.arg or not code.co_flags & CO_OPTIMIZED)
        if is_own:
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
            function_code = code.co_consts[of_code.arg]
            if isinstance(function_code, types.CodeType):
                yield function_code, code.co_consts[of_name.arg], of_name
