"""Bytecode as text that is the same in every process."""

from __future__ import annotations

import dis
import types

import torch

from depyf.bytecode.host import codes_in_order
from depyf.bytecode.ordered_text import ordered_text
from depyf.bytecode.patterns import pattern
from depyf.model.names import stable_names

_ADDRESS = pattern(r" at 0x[0-9a-fA-F]+")
_GLOBAL = pattern(r"\b__\w+")


def listing(code: types.CodeType) -> str:
    """Return the disassembly of a code object and its nested code, without addresses and random names."""
    parts = []
    for current in codes_in_order(code):
        text = dis.Bytecode(_with_brief_constants(current)).dis()
        parts.append(f"{current.co_name}, line {current.co_firstlineno}\n{text}")
    text = _ADDRESS.sub("", "\n".join(parts))
    names = stable_names(_GLOBAL.findall(text))
    return _GLOBAL.sub(lambda match: names.get(match[0], match[0]), text)


_LITERALS = (int, float, complex, str, bytes, type(None), type(...), types.CodeType)


_SHOWN_BY_TORCH = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size)
"""Values that torch prints as a program writes them, the same in each process."""


class _Brief:
    """Stands for a constant whose own text may be very long or differ between processes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _with_brief_constants(code: types.CodeType) -> types.CodeType:
    return code.replace(co_consts=tuple(_brief(constant) for constant in code.co_consts))


def _brief(constant: object) -> object:
    if isinstance(constant, (tuple, frozenset)):
        return _Brief(ordered_text(constant))
    return constant if isinstance(constant, _LITERALS) else _Brief(f"<{object_words(constant)}>")


def object_words(value: object) -> str:
    """Return a description of a constant without a literal, without its address, which differs between runs."""
    if isinstance(value, types.CodeType):
        return f"the code of {value.co_name}"
    if isinstance(value, dict) and isinstance(value.get("__name__"), str):
        return f"the globals of {value['__name__']}"
    if isinstance(value, _SHOWN_BY_TORCH):
        return repr(value)
    return f"a constant of type {type(value).__qualname__}"


def all_names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Return the global and attribute names that a code object and its nested code use, and their variables."""
    names: set[str] = set()
    variables: set[str] = set()
    for current in codes_in_order(code):
        names.update(current.co_names)
        variables.update(current.co_varnames, current.co_cellvars, current.co_freevars)
    return names, variables


def names_in_dump(code: types.CodeType) -> dict[str, str]:
    """Return the dump's name for each name with a random part or an address."""
    names, variables = all_names(code)
    # A variable keeps its name, because Dynamo compares variables with the user's own.
    return stable_names(sorted(names - variables))


def line_of_offset(code: types.CodeType, offset: int) -> int | None:
    """Return the line of the instruction at a bytecode offset."""
    for start, end, line in code.co_lines():
        if start <= offset < end:
            return line
    return None
