"""Whether code may look at the variables of its own frame, or let something look that it calls.

    locals()    vars()    eval(text)    sys._getframe()     do
    vars(x)     dir(x)                                      do not: they look at their argument
"""

from __future__ import annotations

from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.operations import OPERATIONS

READERS = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Builtins that see the variables of the frame that calls them."""
OF_ARGUMENT = frozenset({"vars", "dir"})
"""Those of them that look at their argument instead, where they are given one."""
GETTERS = frozenset({"_getframe", "currentframe"})
"""Attributes that give the frame of their caller."""
LOADS = ("LOAD_GLOBAL", "LOAD_NAME")

Slot = tuple[str, str]
OTHER: Slot = ("", "")
"""What lies on the stack: nothing of interest, or NULL, or READER."""


def reads_frame(listing: Listing) -> bool:
    """Return whether code names something that sees all variables of its caller."""
    names = listing.code.names
    if READERS.isdisjoint(names) and GETTERS.isdisjoint(names):
        return False
    named = [item for item in listing.instructions if item.op in LOADS and item.arg in READERS]
    if any(item.arg not in OF_ARGUMENT for item in named):
        return True
    if any(attribute(item) in GETTERS for item in listing.instructions):
        return True
    return bool(named) and len(named) > calls_with_argument(listing.instructions)


def shows_in_one_order(first: Listing, second: Listing) -> bool:
    """Return whether `locals()` of both has its names in one order: that of the variables of a code object."""
    codes = first.code, second.code
    for names in zip(*((code.varnames, code.cellvars, code.freevars) for code in codes), strict=True):
        both = set(names[0]) & set(names[1])
        if [name for name in names[0] if name in both] != [name for name in names[1] if name in both]:
            return False
    return True


def attribute(item: Instruction) -> object:
    """Return the name of the attribute that an instruction loads, or None."""
    if item.op == "LOAD_ATTR":
        return item.arg
    return item.arg[0] if item.op == "LOAD_METHOD" and isinstance(item.arg, tuple) else None


def calls_with_argument(items: list[Instruction]) -> int:
    """Return how many loads of `vars` and `dir` are called at once, with an argument, and go nowhere else.

    The stack is followed from one instruction to the next; where control comes from elsewhere, nothing is known of it.
    """
    targets = {item.target for item in items}
    stack: list[Slot] = []
    count = 0
    for index, item in enumerate(items):
        if index in targets or (index and not OPERATIONS[items[index - 1].op].falls):
            stack = []
        pops, pushes = OPERATIONS[item.op].effect(item.arg)
        operands = change(stack, pops, pushes)
        if item.op == "NULL":
            stack[-1] = NULL
        elif item.op in LOADS and item.arg in OF_ARGUMENT:
            stack[-1] = READER
        elif item.op == "CALL" and isinstance(item.arg, tuple) and item.arg[0]:
            count += operands[: len(CALLEES[item.arg[1]])] == CALLEES[item.arg[1]] and operands.count(READER) == 1
    return count


def change(stack: list[Slot], pops: int, pushes: int) -> list[Slot]:
    """Take values off a stack and put others on it; return those taken."""
    start = max(0, len(stack) - pops)
    taken = [OTHER] * (pops - (len(stack) - start)) + stack[start:]
    del stack[start:]
    stack += [OTHER] * pushes
    return taken


NULL: Slot = ("null", "")
READER: Slot = ("load", "")
CALLEES = {"plain": [READER], "below": [NULL, READER], "above": [READER, NULL]}
"""By the shape of a call: what stands below its arguments when one of the builtins is called."""
