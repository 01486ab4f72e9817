"""Mutants of which the bytecode tells that they are the same program.

**The same instructions.** The compiler makes the same code of both texts, but for what is never reached and for the
ranges of handlers around what cannot raise: `-True` is folded to `-1`, `while 1.0` to `while True`, a last `return x`
moves from `try` to its `else`. What runs is the same, so the mutant is.

**A dead store.** A constant that is assigned to local variables is another one, or is not assigned at all, and every
path from there assigns the variables anew before anything reads them, or leaves the function; or the next thing is to
unbind a variable that was bound before.
"""

from __future__ import annotations

import types
from collections.abc import Iterator

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.reader import read
from depyf.verify.flow import Flow

Row = tuple[object, ...]


def same_instructions(first: types.CodeType, second: types.CodeType) -> bool:
    """Tell whether two code objects hold the same instructions, as far as they can be reached, and so do those inside.

    Which handler covers what cannot raise does not matter.
    """
    pending = [(first, second)]
    while pending:
        mine, its = pending.pop()
        if list(reachable_rows(mine)) != list(reachable_rows(its)):
            return False
        inner = inside(mine), inside(its)
        if len(inner[0]) != len(inner[1]):
            return False
        pending.extend(zip(*inner))
    return True


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


def is_dead_store(codes: tuple[types.CodeType, types.CodeType]) -> bool:
    """Tell whether two codes, and those inside, are the same but for stores of constants that nothing reads then."""
    pending = [codes]
    while pending:
        mine, its = pending.pop()
        rows, inner = [live_rows(code) for code in (mine, its)], [inside(code) for code in (mine, its)]
        if not rows[0] or rows[0] != rows[1] or len(inner[0]) != len(inner[1]):
            return False
        pending.extend(pair for pair in zip(*inner) if not same_instructions(*pair))
    return True


def live_rows(code: types.CodeType) -> list[Row]:
    """Return the instructions without the constants that only go to variables which are not read before they are set.

    Before: CONST None; COPY 1; STORE_FAST x; STORE_FAST y      After:  nothing, where x and y are dead
    """
    listing = normalise(read(code))
    flow = Flow(listing)
    items = listing.instructions
    dropped = dead(items, flow)
    kept = [place for place in range(len(items)) if place not in dropped]
    number = {place: new for new, place in enumerate(kept)}

    def moved(target: int) -> int:
        while target in dropped:
            target += 1
        return number.get(target, -1)

    return [
        (items[place].op, argument(items[place]), moved(items[place].target) if items[place].target >= 0 else -1)
        for place in kept
    ]


def dead(items: list[Instruction], flow: Flow) -> set[int]:
    """Return the places of constants and of the stores that are all that becomes of them."""
    live, bound = flow.live, flow.bound
    targets = {item.target for item in items}
    found: set[int] = set()
    for place, item in enumerate(items):
        if item.op != "CONST":
            continue
        values, end = 1, place + 1
        while values and 0 < end < len(items) - 1 and end not in targets:
            now = items[end]
            if now.op == "COPY" and now.arg == 1:
                values += 1
            elif now.op == "STORE_FAST" and not live(end + 1) & flow.bit[str(now.arg)]:
                values -= 1
            elif now.op == "STORE_FAST" and is_unbound(items[end + 1], now, bound[place] & flow.bit[str(now.arg)]):
                values -= 1
            else:
                break
            end += 1
        if not values:
            found.update(range(place, end))
    return found


def is_unbound(following: Instruction, store: Instruction, was_bound: int) -> bool:
    """Tell whether the next instruction unbinds a variable, as it would without the store."""
    return following.op == "DELETE_FAST" and following.arg == store.arg and bool(was_bound)
