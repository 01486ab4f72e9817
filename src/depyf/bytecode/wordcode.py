"""Split the bytes of a code object into raw instructions: prefixes joined, caches skipped."""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter

from depyf.bytecode.code import Code
from depyf.bytecode.operand import RawInstruction
from depyf.bytecode.versions.facts import CACHE, EXTENDED_ARG, Facts
from depyf.errors import DecompilationError

MAX_PREFIXES = 3
NAME, START = attrgetter("name"), attrgetter("start")


def decode(code: Code, facts: Facts) -> list[RawInstruction]:
    """Split the bytecode into raw instructions.

    Raises `DecompilationError` on unknown opcodes and truncated code.
    """
    sizes, data = facts.sizes, code.bytecode
    raws: list[RawInstruction] = []
    start = offset = 0
    prefix = 0
    if len(data) % 2:
        raise DecompilationError(f"the bytecode has an odd length ({len(data)} bytes)", code=str(code))
    if not data:
        raise DecompilationError("the bytecode is empty", code=str(code))
    append, get, length = raws.append, sizes.get, len(data)
    while offset < length:
        known = get(data[offset])
        if known is None:
            prefix = (prefix | extended(code, facts, start, offset)) << 8
            offset += 2
            continue
        name, size = known
        end = offset + size
        append(RawInstruction(name, prefix | data[offset + 1], start, offset, end))
        start = offset = end
        prefix = 0
    if start != offset:
        raise DecompilationError("the bytecode ends after EXTENDED_ARG", code=str(code), offset=start)
    if offset > len(data):
        reason = f"the bytecode ends within the cache of {raws[-1].name}"
        raise DecompilationError(reason, code=str(code), offset=raws[-1].offset)
    return raws


def extended(code: Code, facts: Facts, start: int, offset: int) -> int:
    """Return the argument of an EXTENDED_ARG.

    Args:
        code: the code object.
        facts: the facts of its version.
        start: the offset of the first prefix, in bytes.
        offset: the offset of the instruction to read, in bytes.

    Raises:
        DecompilationError: the instruction is no EXTENDED_ARG, or there are too many in a row.
    """
    number = code.bytecode[offset]
    name = facts.table.opcodes.get(number)
    if name == EXTENDED_ARG and offset - start < 2 * MAX_PREFIXES:
        return code.bytecode[offset + 1]
    reason = f"unknown opcode {number}"
    if name == EXTENDED_ARG:
        reason = f"more than {MAX_PREFIXES} EXTENDED_ARG in a row"
    elif name == CACHE:
        reason = "a cache entry instead of an instruction"
    raise DecompilationError(reason, code=str(code), offset=offset)


def jump_targets(code: Code, facts: Facts, raws: list[RawInstruction]) -> list[int]:
    """Return per instruction the index of its jump target, or -1.

    Args:
        code: the code object, for the error.
        facts: the facts of its version: which opcodes jump, and in which units.
        raws: the raw instructions, in order.

    Raises:
        DecompilationError: a target lies outside the code or within an instruction.
    """
    targets = [-1] * len(raws)
    jumping = facts.jumping
    jumps = [(index, raw) for index, raw in enumerate(raws) if raw.name in jumping]
    starts = list(map(START, raws)) if jumps else []
    for index, raw in jumps:
        distance = raw.arg * facts.jump_unit
        if raw.name in facts.table.jump_absolute:
            offset = distance
        elif raw.name in facts.backward:
            offset = raw.end - distance
        else:
            offset = raw.end + distance
        target = bisect_left(starts, offset)
        if target == len(starts) or starts[target] != offset:
            raise DecompilationError(f"{raw.name} {misplaced(code, offset)}", code=str(code), offset=raw.offset)
        targets[index] = target
    return targets


def misplaced(code: Code, offset: int) -> str:
    """Return why an offset is not a jump target."""
    if 0 <= offset < len(code.bytecode):
        return f"goes to offset {offset}, in the middle of an instruction"
    return f"goes to offset {offset}, outside the code ({len(code.bytecode)} bytes)"
