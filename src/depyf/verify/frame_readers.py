"""Find out whether code may look at the variables of its own frame, directly or through its callees.

locals()    vars()    builtins.eval(text)    error.__traceback__.tb_frame    inspect.stack()    may look
vars(x)     dir(x)                                                                              do not look

The test is by name: of a global, an attribute, a variable or an import, or a string that `getattr` may get.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.operations import OPERATIONS

READERS = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Builtins that see the variables of the frame that calls them."""
OF_ARGUMENT = frozenset({"vars", "dir"})
"""The builtins among them that look at their argument instead, if they have one."""
GETTERS = frozenset(
    "_getframe currentframe _current_frames getouterframes getinnerframes getargvalues getgeneratorlocals "
    "getcoroutinelocals walk_stack walk_tb settrace setprofile breakpoint set_trace interact "
    "tb_frame gi_frame cr_frame ag_frame f_locals f_back".split()
)
"""Functions and attributes that return a frame or lead to other frames, and debuggers."""
OF_INSPECT = frozenset({"stack", "trace"})
"""Functions of `inspect` that return frames. In code without the name `inspect`, their names mean something else."""
LOADS = ("LOAD_GLOBAL", "LOAD_NAME")

Slot = tuple[str, str]
OTHER: Slot = ("", "")
"""The contents of a stack slot: OTHER (anything else), NULL, or READER."""


def reads_frame(listing: Listing) -> bool:
    """Return whether code names a function that sees all variables of its caller, or makes code that does."""
    code, items = listing.code, listing.instructions
    of_names = {item.arg for item in items if item.op in LOADS}
    otherwise = {attribute(item) for item in items} | mentioned(code, [])
    nested = (const for const in code.consts if isinstance(const, Code))
    if gets_frames(of_names | otherwise) or any(makes_getter(nested_code) for nested_code in nested):
        return True
    if not READERS.isdisjoint(otherwise) or not (READERS - OF_ARGUMENT | OF_INSPECT).isdisjoint(of_names):
        return True
    named = [item for item in items if item.op in LOADS and item.arg in OF_ARGUMENT]
    return bool(named) and len(named) > calls_with_argument(items)


def may_read_frame(code: Code) -> bool:
    """Return whether code mentions a name of a function that looks at frames. Code without one does not look."""
    names = mentioned(code, code.names)
    nested = (const for const in code.consts if isinstance(const, Code))
    return not (READERS | GETTERS | OF_INSPECT).isdisjoint(names) or any(
        makes_getter(nested_code) for nested_code in nested
    )


def makes_getter(code: Code) -> bool:
    """Return whether nested code gets frames; its caller's frame is one of them."""
    pending = [code]
    while pending:
        current = pending.pop()
        if gets_frames(mentioned(current, current.names)):
            return True
        pending += [const for const in current.consts if isinstance(const, Code)]
    return False


def gets_frames(names: Set[object]) -> bool:
    """Return whether some of these names are names of functions that return frames."""
    return not GETTERS.isdisjoint(names) or "inspect" in names and not OF_INSPECT.isdisjoint(names)


def mentioned(code: Code, names: Sequence[str]) -> set[object]:
    """Return some names of a code, those of its variables, and the strings among its constants."""
    mentions: set[object] = {*names, *code.varnames, *code.cellvars, *code.freevars}
    rows = [const for const in code.consts if type(const) is tuple]
    mentions.update(item for row in (code.consts, *rows) for item in row if type(item) is str)
    return mentions


def shows_in_one_order(first: Code, second: Code) -> bool:
    """Return whether `locals()` has its names in the same order in both: the order of the code object's variables."""
    for names in zip(*((code.varnames, code.cellvars, code.freevars) for code in (first, second)), strict=True):
        if names[0] == names[1]:
            continue
        both = set(names[0]) & set(names[1])
        if [name for name in names[0] if name in both] != [name for name in names[1] if name in both]:
            return False
    return True


def attribute(item: Instruction) -> object:
    """Return the name that an instruction loads from an object or module, or None."""
    if item.op in ("LOAD_ATTR", "IMPORT_FROM"):
        return item.arg
    return item.arg[0] if item.op == "LOAD_METHOD" and isinstance(item.arg, tuple) else None


def calls_with_argument(items: list[Instruction]) -> int:
    """Return how many loads of `vars` and `dir` are directly called with an argument, and not used otherwise.

    The stack is followed within straight-line code; at a jump target nothing is known about it.
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
    """Pop values from a stack and push others; return the popped ones.

    Args:
        stack: the stack, which is changed.
        pops: the number of values to pop.
        pushes: the number of values to push.
    """
    start = max(0, len(stack) - pops)
    taken = [OTHER] * (pops - (len(stack) - start)) + stack[start:]
    del stack[start:]
    stack += [OTHER] * pushes
    return taken


NULL: Slot = ("null", "")
READER: Slot = ("load", "")
CALLEES = {"plain": [READER], "below": [NULL, READER], "above": [READER, NULL]}
"""By the shape of a call: the slots below its arguments if the callee is one of the builtins."""
