"""Basic blocks of a listing: runs of instructions with one entry, one exit, one handler."""

from __future__ import annotations

from depyf.bytecode.listing import Listing
from depyf.bytecode.records import dataclass

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
    ends = [position for position, instruction in enumerate(instructions) if instruction.op in ENDS]
    leaders = {0}
    leaders.update([position + 1 for position in ends])
    leaders.update([instructions[position].target for position in ends])
    leaders.update([handler.target for handler in listing.handlers])
    leaders.update([loop.start for loop in listing.loops])
    leaders.update([beyond.target for beyond in listing.beyond.values()])
    if listing.handlers:
        handlers = [instruction.handler for instruction in instructions]
        leaders.update(
            [
                place
                for place, (handler, next_handler) in enumerate(zip(handlers, handlers[1:]), 1)
                if handler != next_handler
            ]
        )
    starts = sorted([position for position in leaders if 0 <= position < len(instructions)])
    spans = [
        Span(start, end, instructions[start].handler) for start, end in zip(starts, [*starts[1:], len(instructions)])
    ]
    return spans, {span.start: index for index, span in enumerate(spans)}
