"""Which names the module of a function imported, as far as its bytecode shows it.

Some CPython versions compile `m.f(x)` as a plain call, not as a method call, when the module that holds the code
imports `m` at top level. They ask for the name alone: an `m` that is local to the function is called so too. Text that
stands alone gets the same form only with those imports before it.
"""

from __future__ import annotations

import keyword

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction
from depyf.bytecode.listings import Listings
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.versions.known import facts_of

LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")
CALLEE = {"plain": 0, "above": 0, "below": 1}
"""By the shape of a call: where the callee stands among its operands."""


def imported_names(code: Code, listings: Listings) -> list[str]:
    """Return the names whose attributes are called in the plain form, and never in the method form.

    Nested code counts. Raises `DecompilationError` for bytecode that cannot be read.
    """
    plain: set[str] = set()
    method: set[str] = set()
    pending = [code]
    while pending:
        current = pending.pop()
        pending += [const for const in current.consts if isinstance(const, Code)]
        if may_load_attributes(current):
            collect(listings.of(current).instructions, plain, method)
    return sorted(name for name in plain - method if name.isidentifier() and not keyword.iskeyword(name))


def may_load_attributes(code: Code) -> bool:
    """Return whether there is a LOAD_ATTR among the bytes of some code; without one, no attribute is called plainly."""
    opcodes = facts_of(code.version, str(code)).table.opcodes
    used = set(code.bytecode[::2])
    return any(opcodes.get(number) == "LOAD_ATTR" for number in used)


def collect(items: list[Instruction], plain: set[str], method: set[str]) -> None:
    """Add the names of one listing to those seen with the plain and with the method form.

    The stack is followed only while the attribute of a variable lies there. Each such one is known by its place.
    """
    held: list[tuple[int, str]] = []
    depth = 0
    at: dict[int, int] = {}
    for index in range(1, len(items)):
        item, before = items[index], items[index - 1]
        if held:
            if not OPERATIONS[before.op].falls:
                depth = at.get(index, 0)
            depth = follow(item, depth, held, plain, at)
        if item.op == "LOAD_ATTR" and before.op in LOADS:
            if not held:
                depth = 1
                at.clear()
            held.append((depth - 1, str(before.arg)))
        elif item.op == "LOAD_METHOD" and before.op in LOADS:
            method.add(str(before.arg))


def follow(item: Instruction, depth: int, held: list[tuple[int, str]], plain: set[str], at: dict[int, int]) -> int:
    """Follow one instruction from a depth of the stack to the next, and take from `held` what it takes.

    at: the depths of what is jumped to.
    """
    operation = OPERATIONS[item.op]
    if operation.jump_effect is not None and item.target not in at:
        pops, pushes = operation.jump_effect(item.arg)
        at[item.target] = depth - pops + pushes
    pops, pushes = operation.effect(item.arg)
    rest = depth - pops
    while held and held[-1][0] >= rest:
        place, name = held.pop()
        if item.op in ("CALL", "CALL_KW") and isinstance(item.arg, tuple) and place == rest + CALLEE[item.arg[1]]:
            plain.add(name)
    return rest + pushes
