"""Basic blocks of a listing: runs of instructions with one entry, one exit, one handler."""

from __future__ import annotations

from dataclasses import dataclass

from depyf.bytecode.listing import Listing

JUMPS = frozenset({"JUMP", "JUMP_IF_TRUE", "JUMP_IF_FALSE", "FOR_ITER", "SEND"})
STOPS = frozenset({"RETURN", "RAISE", "RERAISE"})
ENDS = JUMPS | STOPS


@dataclass(slots=True)
class Span:
    """The instructions `start` to `end` (exclusive) of a listing; all have one `handler`."""

    start: int
    end: int
    handler: int


def split(listing: Listing) -> tuple[list[Span], dict[int, int]]:
    """Cut a listing into basic blocks.

    Returns the spans in order and, for the first instruction of each, the span's index. A block begins at every jump
    target, after every jump or stop, at every handler's entry, and where the protecting handler changes.
    """
    instructions = listing.instructions
    leaders = {0}
    leaders.update(handler.target for handler in listing.handlers)
    leaders.update(loop.start for loop in listing.loops)
    leaders.update(beyond.target for beyond in listing.beyond.values())
    handler = instructions[0].handler if instructions else -1
    for position, instruction in enumerate(instructions):
        if instruction.op in ENDS:
            leaders.add(position + 1)
        if instruction.target >= 0:
            leaders.add(instruction.target)
        if instruction.handler != handler:
            handler = instruction.handler
            leaders.add(position)
    starts = sorted(position for position in leaders if position < len(instructions))
    ends = starts[1:] + [len(instructions)]
    spans = [Span(start, end, instructions[start].handler) for start, end in zip(starts, ends)]
    return spans, {span.start: index for index, span in enumerate(spans)}
