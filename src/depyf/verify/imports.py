"""Which names the module of a function imported, as far as its bytecode shows it.

Some CPython versions compile `m.f(x)` as a plain call, not as a method call, when the module that holds the code
imports `m` at top level. They ask for the name alone: an `m` that is local to the function is called so too. Text that
stands alone gets the same form only with those imports before it.
"""

from __future__ import annotations

import keyword

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.versions.known import facts_of
from depyf.verify.listings import Listings

LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")
CALLEE = {"plain": 0, "above": 0, "below": 1}
"""By the shape of a call: where the callee stands among its operands."""

Slot = tuple[str, str]
OTHER: Slot = ("", "")
"""Values on the stack: a variable ("load", name), an attribute of one ("attribute", name), any other."""


def imported_names(code: Code, listings: Listings) -> list[str]:
    """Return the names whose attributes are called in the plain form, and never in the method form.

    Nested code counts. Raises `DecompilationError` for bytecode that cannot be read.
    """
    plain: set[str] = set()
    method: set[str] = set()
    pending = [code]
    while pending:
        current = pending.pop()
        pending.extend(const for const in current.consts if isinstance(const, Code))
        if may_load_attributes(current):
            collect(listings.of(current).instructions, plain, method)
    return sorted(name for name in plain - method if name.isidentifier() and not keyword.iskeyword(name))


def may_load_attributes(code: Code) -> bool:
    """Return whether there is a LOAD_ATTR among the bytes of some code; without one, no attribute is called plainly."""
    opcodes = facts_of(code.version, str(code)).table.opcodes
    used = set(code.bytecode[::2])
    return any(opcodes.get(number) == "LOAD_ATTR" for number in used)


def collect(items: list[Instruction], plain: set[str], method: set[str]) -> None:
    """Add the names of one listing to those seen with the plain and with the method form."""
    stack: list[Slot] = []
    at: dict[int, list[Slot]] = {}
    for index, item in enumerate(items):
        if index and not OPERATIONS[items[index - 1].op].falls:
            stack = at.get(index, [])
        operation = OPERATIONS[item.op]
        if operation.jump_effect is not None and item.target not in at:
            at[item.target] = list(stack)
            change(at[item.target], *operation.jump_effect(item.arg))
        pops, pushes = operation.effect(item.arg)
        operands = change(stack, pops, pushes)
        if item.op == "LOAD_METHOD" and operands[0][0] == "load":
            method.add(operands[0][1])
        elif item.op in ("CALL", "CALL_KW") and isinstance(item.arg, tuple):
            kind, name = operands[CALLEE[item.arg[1]]]
            if kind == "attribute":
                plain.add(name)
        if item.op in LOADS:
            stack[-1] = ("load", str(item.arg))
        elif item.op == "LOAD_ATTR" and operands[0][0] == "load":
            stack[-1] = ("attribute", operands[0][1])


def change(stack: list[Slot], pops: int, pushes: int) -> list[Slot]:
    """Take values off a stack and put others on it; return those taken."""
    start = max(0, len(stack) - pops)
    taken = [OTHER] * (pops - (len(stack) - start)) + stack[start:]
    del stack[start:]
    stack += [OTHER] * pushes
    return taken
