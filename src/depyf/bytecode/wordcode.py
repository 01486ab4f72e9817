"""Bytes of a code object to raw instructions: prefixes joined, caches skipped."""

from __future__ import annotations

from collections.abc import Sequence

from depyf.bytecode.code import Code
from depyf.bytecode.operand import RawInstruction
from depyf.bytecode.versions.facts import Facts
from depyf.errors import DecompilationError

MAX_PREFIXES = 3


def decode(code: Code, facts: Facts) -> list[RawInstruction]:
    """Split the bytecode into raw instructions.

    Raises `DecompilationError` on unknown opcodes and truncated code.
    """
    table, data = facts.table, code.bytecode
    raws: list[RawInstruction] = []
    start = offset = 0
    prefix = 0

    def fail(reason: str) -> DecompilationError:
        return DecompilationError(reason, code=str(code), offset=offset)

    if len(data) % 2:
        raise DecompilationError(f"the bytecode has an odd length ({len(data)} bytes)", code=str(code))
    if not data:
        raise DecompilationError("the bytecode is empty", code=str(code))
    while offset < len(data):
        name = table.opcodes.get(data[offset])
        if name is None:
            raise fail(f"unknown opcode {data[offset]}")
        if name == "CACHE":
            raise fail("a cache entry where an instruction should stand")
        if name == "EXTENDED_ARG":
            prefix = (prefix | data[offset + 1]) << 8
            if offset - start >= 2 * MAX_PREFIXES:
                raise fail(f"more than {MAX_PREFIXES} EXTENDED_ARG in a row")
            offset += 2
            continue
        end = offset + 2 + 2 * table.caches.get(name, 0)
        if end > len(data):
            raise fail(f"the bytecode ends within the cache of {name}")
        raws.append(RawInstruction(name, prefix | data[offset + 1], start, offset, end))
        start = offset = end
        prefix = 0
    if start != offset:
        raise DecompilationError("the bytecode ends after EXTENDED_ARG", code=str(code), offset=start)
    return raws


def jump_targets(code: Code, facts: Facts, raws: Sequence[RawInstruction], jumps: Sequence[bool]) -> list[int]:
    """Return per instruction the index of the one it jumps to, or -1 where `jumps` is false.

    Raises `DecompilationError` where a target lies outside the code or within an instruction.
    """
    starts = {raw.start: index for index, raw in enumerate(raws)}
    targets = []
    for raw, does_jump in zip(raws, jumps, strict=True):
        if not does_jump:
            targets.append(-1)
            continue
        distance = raw.arg * facts.jump_unit
        if raw.name in facts.table.jump_absolute:
            offset = distance
        elif raw.name in facts.backward:
            offset = raw.end - distance
        else:
            offset = raw.end + distance
        target = starts.get(offset)
        if target is None:
            raise DecompilationError(f"{raw.name} {misplaced(code, offset)}", code=str(code), offset=raw.offset)
        targets.append(target)
    return targets


def misplaced(code: Code, offset: int) -> str:
    """Say why an offset is no target."""
    if 0 <= offset < len(code.bytecode):
        return f"goes to offset {offset}, in the middle of an instruction"
    return f"goes to offset {offset}, outside the code ({len(code.bytecode)} bytes)"
