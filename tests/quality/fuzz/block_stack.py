"""Protected blocks where the interpreter keeps a stack of blocks, and has no table of exceptions (3.10).

A block is protected from its start to its end: what lies above the part of the stack that its handler keeps waits in
variables while SETUP_FINALLY notes how deep the stack is. The exception is left as one value for the block that the
region names; PUSH_EXC_INFO raises it once more, so that it is being handled. One `p` is three values on the stack.
"""

from __future__ import annotations

from tests.quality.fuzz.lowering import SPARE, VARIABLES, Lowering
from tests.quality.fuzz.program import Block, Kinds, Region

UNMOVABLE = frozenset("pmsqnu")
HANDLING = frozenset("PUSH_EXC_INFO POP_EXCEPT RESTORE".split())
"""Operations that leave another block on the stack of blocks than they find."""
WIDTH = {"p": 3}
"""Values on the stack for one of a kind, where that is not one."""
DEEP = frozenset("LIST_APPEND LIST_EXTEND SET_ADD SET_UPDATE MAP_ADD DICT_UPDATE".split())
"""Operations that say how deep on the stack a container lies, with what they take themselves above it."""


def uses_blocks(low: Lowering) -> bool:
    """Return whether the version keeps a stack of blocks."""
    return low.facts.exceptions != "table"


def protect(low: Lowering, block: Block) -> bool:
    """Begin what protects a block; return False where that cannot be, and nothing protects it."""
    if block.region < 0 or not uses_blocks(low):
        return False
    region = low.program.regions[block.region]
    above = block.entry[len(region.kept) :]
    if UNMOVABLE & {*above} or len(above) > len(SPARE) or any(op.name in HANDLING for op in block.ops):
        return False
    for number in range(len(above)):
        low.put("STORE_FAST", spare(number))
    low.put("SETUP_FINALLY", target=low.pad(region.entry, "caught", block.region))
    for number in reversed(range(len(above))):
        low.put("LOAD_FAST", spare(number))
    return True


def spare(number: int) -> int:
    """Return the index of a variable that programs do not use."""
    return len(VARIABLES) + number


def catch(low: Lowering, region: Region) -> None:
    """Leave the exception that has come as one value, nothing being handled, and go to the block of its handler."""
    if region.native:
        catch_natively(low, region)
        return
    low.put("POP_TOP")
    low.put("STORE_FAST", spare(0))
    low.put("POP_TOP")
    low.put("POP_EXCEPT")
    if region.lasti:
        low.put("LOAD_CONST", low.const(None))
    low.put("LOAD_FAST", spare(0))
    low.jump(region.target)


def catch_natively(low: Lowering, region: Region) -> None:
    """Ask the exit of a manager, or whether an iterator has ended, and go on if so; else raise the exception again."""
    if region.native == "async for":
        low.put("END_ASYNC_FOR")
    else:
        low.put("WITH_EXCEPT_START")
        if region.native == "async with":
            low.put("GET_AWAITABLE")
            low.put("LOAD_CONST", low.const(None))
            low.put("YIELD_FROM")
        suppressed = low.new_label()
        low.put("POP_JUMP_IF_TRUE", target=suppressed)
        low.put("RERAISE", 1)
        low.pending.append(suppressed)
        for _ in range(3):
            low.put("POP_TOP")
        low.put("POP_EXCEPT")
    low.jump(region.target)


def handle(low: Lowering) -> None:
    """Raise the value on top, so that it is being handled, and leave it on top again."""
    low.put("STORE_FAST", spare(0))
    label = low.new_label()
    low.put("SETUP_FINALLY", target=label)
    low.put("LOAD_FAST", spare(0))
    low.put("RAISE_VARARGS", 1)
    low.pending.append(label)
    low.put("POP_TOP")
    low.put("ROT_TWO")
    low.put("POP_TOP")


def restore(low: Lowering, depth: int) -> None:
    """Handle again what was being handled before: that lies under `depth - 1` values, and a value takes its place."""
    for number in range(depth - 1):
        low.put("STORE_FAST", spare(number))
    low.put("POP_EXCEPT")
    low.put("LOAD_CONST", low.const(None))
    for number in reversed(range(depth - 1)):
        low.put("LOAD_FAST", spare(number))


def reraise(low: Lowering, kinds: Kinds) -> None:
    """Raise the value on top: if it is being handled, as that."""
    if kinds[-2:] == ("p", "e"):
        low.put("RAISE_VARARGS", 0)
    else:
        low.put("RAISE_VARARGS", 1)


def depth_of(kinds: Kinds, depth: int, operands: int) -> int:
    """Return how deep a container lies: `depth` kinds without the `operands` operands above it."""
    above = kinds[len(kinds) - operands - depth + 1 : len(kinds) - operands]
    return depth + sum(WIDTH.get(kind, 1) - 1 for kind in above)


def height(kinds: Kinds) -> int:
    """Return how many values lie on the stack."""
    return sum(WIDTH.get(kind, 1) for kind in kinds)
