"""Give compiled code the cell and free variables of the code that it replaces, in the same order.

`fn.__code__ = code` requires as many free variables as the closure has, in its order. The compiler sorts them by name
and drops the ones that the source does not use. Programs that write bytecode do neither.
"""

from __future__ import annotations

import types

from depyf.bytecode.operand import RawInstruction
from depyf.errors import DecompilationError
from depyf.verify.candidate.patch import Words

TO_CELL = {
    "LOAD_FAST": "LOAD_DEREF",
    "LOAD_FAST_CHECK": "LOAD_DEREF",
    "STORE_FAST": "STORE_DEREF",
    "DELETE_FAST": "DELETE_DEREF",
}
PROLOGUE = ("COPY_FREE_VARS", "MAKE_CELL")
NO_LOCATION = 15
UNITS_PER_ENTRY = 8


def lay_out(code: types.CodeType, original: types.CodeType) -> types.CodeType:
    """Return the code with the cell and free variables of `original`, in its order.

    A variable that is a cell only in `original` becomes a cell. Raises `DecompilationError` if `code` has a cell or
    free variable that `original` lacks, or if the new layout does not fit into the bytecode.
    """
    extra = (set(code.co_cellvars) | set(code.co_freevars)) - set(original.co_cellvars) - set(original.co_freevars)
    crossed = set(code.co_cellvars) & set(original.co_freevars) | set(code.co_freevars) & set(original.co_cellvars)
    if extra or crossed:
        names = ", ".join(sorted(extra | crossed))
        raise DecompilationError(f"{names}: not the same kind of variable as in the original", code=original.co_name)
    if (code.co_cellvars, code.co_freevars) == (original.co_cellvars, original.co_freevars):
        return code
    words = Words(code)
    if words.facts.shared_slots:
        return one_row(code, original, words)
    return two_rows(code, original, words)


def two_rows(code: types.CodeType, original: types.CodeType, words: Words) -> types.CodeType:
    """Lay out code with separate index spaces for cell and free variables.

    Args:
        code: the code compiled from the source.
        original: the code whose cells and free variables it gets.
        words: the instructions of `code`, which are changed.
    """
    old = (*code.co_cellvars, *code.co_freevars)
    new = {name: index for index, name in enumerate((*original.co_cellvars, *original.co_freevars))}
    for raw in words.raws:
        if raw.name in words.facts.table.free:
            words.rename(raw, raw.name, new[old[raw.arg]])
        elif raw.name in TO_CELL and code.co_varnames[raw.arg] in new:
            words.rename(raw, TO_CELL[raw.name], new[code.co_varnames[raw.arg]])
    return code.replace(co_code=bytes(words.data), co_cellvars=original.co_cellvars, co_freevars=original.co_freevars)


def one_row(code: types.CodeType, original: types.CodeType, words: Words) -> types.CodeType:
    """Lay out code in which all variables share one index space: locals, then cells, then free variables.

    A parameter that is a cell keeps its slot among the locals. A prologue makes the cells.

    Args:
        code: the code compiled from the source.
        original: the code whose cells and free variables it gets.
        words: the instructions of `code`, which are changed.
    """
    parameters = parameter_count(code)
    cells, free = set(original.co_cellvars), original.co_freevars
    kept = set(code.co_varnames[:parameters]) | set(code.co_varnames) - cells
    varnames = tuple(name for name in code.co_varnames if name in kept)
    old = (*code.co_varnames, *(c for c in code.co_cellvars if c not in code.co_varnames), *code.co_freevars)
    row = (*varnames, *(name for name in original.co_cellvars if name not in varnames), *free)
    new = {name: index for index, name in enumerate(row)}
    table = words.facts.table
    for raw in words.raws:
        if raw.name in table.local or raw.name in table.free:
            if raw.name not in SLOT_INSTRUCTIONS:
                pair = raw.arg >> 4, raw.arg & 15
                if any(new[old[slot]] != slot or old[slot] in cells for slot in pair):
                    raise DecompilationError(f"{raw.name} names two variables", code=words.name, offset=raw.offset)
                continue
            name = old[raw.arg]
            is_new_cell = name in cells and name not in code.co_cellvars
            words.rename(raw, TO_CELL.get(raw.name, raw.name) if is_new_cell else raw.name, new[name])
    prologue = (words.encode("COPY_FREE_VARS", len(free)) if free else b"") + b"".join(
        words.encode("MAKE_CELL", new[name]) for name in original.co_cellvars
    )
    return with_prologue(
        code.replace(
            co_code=bytes(words.data),
            co_varnames=varnames,
            co_nlocals=len(varnames),
            co_cellvars=original.co_cellvars,
            co_freevars=free,
        ),
        prologue,
        words,
    )


SLOT_INSTRUCTIONS = frozenset(
    "LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR LOAD_FAST_BORROW STORE_FAST DELETE_FAST STORE_FAST_MAYBE_NULL "
    "MAKE_CELL LOAD_CLOSURE LOAD_DEREF STORE_DEREF DELETE_DEREF LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF".split()
)
"""Instructions whose argument is one index into the slots."""


def parameter_count(code: types.CodeType) -> int:
    """Return the number of local variables that are parameters."""
    has_star, has_stars = bool(code.co_flags & 0x04), bool(code.co_flags & 0x08)
    return code.co_argcount + code.co_kwonlyargcount + has_star + has_stars


def with_prologue(code: types.CodeType, prologue: bytes, words: Words) -> types.CodeType:
    """Return the code with its leading COPY_FREE_VARS and MAKE_CELL replaced; all jumps must be relative.

    Args:
        code: the code.
        prologue: the new instructions.
        words: the instructions of `code`.
    """
    old_length = prologue_length(words.raws)
    padding = max(0, old_length - len(prologue)) // 2
    prologue += bytes((words.number["NOP"], 0)) * padding
    added = len(prologue) - old_length
    if not added:
        return code.replace(co_code=prologue + code.co_code[old_length:])
    units = added // 2
    heads = [min(UNITS_PER_ENTRY, units - done) for done in range(0, units, UNITS_PER_ENTRY)]
    no_lines = bytes(0x80 | NO_LOCATION << 3 | count - 1 for count in heads)
    return code.replace(
        co_code=prologue + code.co_code[old_length:],
        co_linetable=no_lines + code.co_linetable,
        co_exceptiontable=shifted(code.co_exceptiontable, units),
    )


def prologue_length(raws: list[RawInstruction]) -> int:
    """Return the length in bytes of the leading COPY_FREE_VARS and MAKE_CELL."""
    length = 0
    for raw in raws:
        if raw.name not in PROLOGUE:
            break
        length = raw.end
    return length


def shifted(table: bytes, units: int) -> bytes:
    """Return an exception table whose ranges and targets lie `units` instruction units later."""
    values: list[int] = []
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            values.append(value)
            value = 0
    encoded = bytearray()
    for position, number in enumerate(values):
        # An entry is start, length, target, and depth with the lasti bit.
        moved = number + units if position % 4 in (0, 2) else number
        encoded += varint(moved, 0x80 if position % 4 == 0 else 0)
    return bytes(encoded)


def varint(number: int, mark: int) -> bytes:
    """Encode a number six bits a byte, high ones first; `mark` is set on the first byte."""
    digits = [number & 63]
    while number > 63:
        number >>= 6
        digits.append(number & 63)
    return bytes(
        digit | (64 if place else 0) | (mark if place == len(digits) - 1 else 0)
        for place, digit in reversed(list(enumerate(digits)))
    )
