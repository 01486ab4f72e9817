"""Mutants of which the bytecode tells that they are the same program.

**The same instructions.** The compiler makes the same code of both texts, but for what is never reached and for the
ranges of handlers around what cannot raise: `-True` is folded to `-1`, `while 1.0` to `while True`, a last `return x`
moves from `try` to its `else`. What runs is the same, so the mutant is.
"""

from __future__ import annotations

import types
from collections.abc import Iterator

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.bytecode.docstring import docstring
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.reader import read
from depyf.verify.flow import Flow

Row = tuple[object, ...]


def same_instructions(first: types.CodeType, second: types.CodeType) -> bool:
    """Return whether two code objects, and those inside, hold the same instructions as far as they can be reached.

    Which handler covers what cannot raise does not matter.
    """
    pending = [(first, second)]
    while pending:
        mine, its = pending.pop()
        if head(read(mine)) != head(read(its)) or list(reachable_rows(mine)) != list(reachable_rows(its)):
            return False
        inner = inside(mine), inside(its)
        if len(inner[0]) != len(inner[1]):
            return False
        pending.extend(zip(*inner))
    return True


def head(code: Code) -> tuple[object, ...]:
    """Return what two functions share before anything is run."""
    counts = code.argcount, code.posonly_count, code.kwonly_count
    return code.name, code.qualname, counts, code.parameters, code.flags, code.freevars, docstring(code)


def inside(code: types.CodeType) -> list[types.CodeType]:
    """Return the code objects directly inside one."""
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def reachable_rows(code: types.CodeType) -> Iterator[Row]:
    """Yield of each instruction that is reached what it is, where it jumps, and where its exceptions go."""
    listing = normalise(read(code))
    flow = Flow(listing)
    bound, order = flow.bound, flow.order
    reached = [place for place in range(len(order)) if order[place] < len(order)]
    number = {place: new for new, place in enumerate(reached)}
    for place in reached:
        item = listing.instructions[place]
        raises = OPERATIONS[item.op].raises
        if item.op == "LOAD_FAST":
            raises = not bound[place] & flow.bit[str(item.arg)]
        handler = listing.handlers[item.handler].target if raises and item.handler >= 0 else -1
        yield item.op, argument(item), number.get(item.target, -1), number.get(handler, -1)


def argument(item: Instruction) -> object:
    """Return what two arguments that are the same share."""
    return "code" if isinstance(item.arg, Code) else key(item.arg)
