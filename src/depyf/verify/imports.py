"""Which global names the module of a function imported, as far as its bytecode shows it.

Some CPython versions compile `m.f(x)` as a plain call, not as a method call, when the module that holds the code
imports `m` at top level. Text that stands alone gets the same form only with those imports before it.
"""

from __future__ import annotations

import keyword

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise

GLOBAL_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


def imported_names(code: Code) -> list[str]:
    """Return the names whose attributes are called in the plain form, and never in the method form.

    Nested code counts. Raises `DecompilationError` for bytecode that cannot be read.
    """
    plain: set[str] = set()
    method: set[str] = set()
    pending = [code]
    while pending:
        current = pending.pop()
        pending.extend(const for const in current.consts if isinstance(const, Code))
        collect(normalise(current).instructions, plain, method)
    return sorted(name for name in plain - method if name.isidentifier() and not keyword.iskeyword(name))


def collect(items: list[Instruction], plain: set[str], method: set[str]) -> None:
    """Add the names of one listing to those seen with the plain and with the method form."""
    for index in range(len(items) - 1):
        load, use = items[index], items[index + 1]
        if load.op not in GLOBAL_LOADS:
            continue
        if use.op == "LOAD_METHOD":
            method.add(str(load.arg))
        elif use.op == "LOAD_ATTR":
            null_below = index > 0 and items[index - 1].op == "NULL"
            null_above = index + 2 < len(items) and items[index + 2].op == "NULL"
            if null_below or null_above:
                plain.add(str(load.arg))
