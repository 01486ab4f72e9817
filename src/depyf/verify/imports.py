"""Infer from a function's bytecode which names its module imports.

Some CPython versions compile `m.f(x)` as a plain call instead of a method call if the module imports `m` at top level.
They check only the name, so this also applies to a local `m`. A text on its own compiles to the same form only with
these imports.
"""

from __future__ import annotations

import keyword
from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction
from depyf.bytecode.listings import Listings
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.records import dataclass
from depyf.bytecode.versions.known import facts_of

ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")
CALLEE = {"plain": 0, "above": 0, "below": 1}
"""By the shape of a call: the position of the callee among its operands."""


def imported_names(code: Code, listings: Listings) -> list[str]:
    """Return the names whose attributes are called in the plain form, and never in the method form.

    Nested code counts. Raises `DecompilationError` for unreadable bytecode.
    """
    plain: set[str] = set()
    method: set[str] = set()
    pending = [code]
    while pending:
        current = pending.pop()
        if uses(current, "MAKE_FUNCTION"):
            # Code of which no function is made is not in the text.
            pending += [const for const in current.consts if isinstance(const, Code)]
        if uses(current, "LOAD_ATTR"):
            collect(listings.of(current).instructions, plain, method)
    return sorted(name for name in plain - method if name.isidentifier() and not keyword.iskeyword(name))


def uses(code: Code, name: str) -> bool:
    """Return whether there is an opcode of this name among the bytes of some code."""
    opcodes = facts_of(code.version, str(code)).table.opcodes
    return any(opcodes.get(number) == name for number in set(code.bytecode[::2]))


def collect(items: list[Instruction], plain: set[str], method: set[str]) -> None:
    """Add the names of one listing to those in the plain and in the method form.

    The stack is followed only while it holds the attribute of a variable.

    Args:
        items: the instructions of the listing.
        plain: the names that are loaded plainly; it is added to.
        method: the names that are loaded as methods; it is added to.
    """
    stack = Stack(items, plain)
    for index in [index for index, item in enumerate(items) if index and item.op in ATTRIBUTES]:
        stack.follow(index)
        before = items[index - 1]
        if before.op in LOADS and items[index].op == "LOAD_ATTR":
            stack.hold(index, str(before.arg))
        elif before.op in LOADS:
            method.add(str(before.arg))
    stack.follow(len(items) - 1)


@dataclass(slots=True)
class Stack:
    """The stack slots that hold attributes of variables, after an instruction.

    plain: receives the names of those variables whose attribute is called in the plain form.
    place, depth: the instruction, and the depth of the stack after it.
    at: the depths at jump targets.
    """

    items: list[Instruction]
    plain: set[str]
    place: int = 0
    depth: int = 0
    held: list[tuple[int, str]] = field(default_factory=list)
    at: dict[int, int] = field(default_factory=dict)

    def hold(self, place: int, name: str) -> None:
        """Record that an instruction has pushed an attribute of a variable."""
        if not self.held:
            self.place, self.depth = place, 1
            self.at.clear()
        self.held.append((self.depth - 1, name))

    def follow(self, end: int) -> None:
        """Follow the instructions up to `end`, as long as there are such slots."""
        while self.held and self.place < end:
            self.place += 1
            if not OPERATIONS[self.items[self.place - 1].op].falls:
                self.depth = self.at.get(self.place, 0)
            self.step(self.items[self.place])

    def step(self, item: Instruction) -> None:
        """Follow one instruction, and drop the values that it pops."""
        operation = OPERATIONS[item.op]
        if operation.jump_effect is not None and item.target not in self.at:
            pops, pushes = operation.jump_effect(item.arg)
            self.at[item.target] = self.depth - pops + pushes
        pops, pushes = operation.effect(item.arg)
        rest = self.depth - pops
        while self.held and self.held[-1][0] >= rest:
            place, name = self.held.pop()
            if item.op in ("CALL", "CALL_KW") and isinstance(item.arg, tuple) and place == rest + CALLEE[item.arg[1]]:
                self.plain.add(name)
        self.depth = rest + pushes
