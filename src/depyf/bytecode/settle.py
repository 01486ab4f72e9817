"""Convert the finished draft to the listing: resolve indices, remove the leftovers of folds."""

from __future__ import annotations

from itertools import accumulate

from depyf.bytecode.draft import Draft
from depyf.bytecode.listing import Handler, Instruction, Listing
from depyf.bytecode.operations import OPERATIONS


def settle(draft: Draft) -> Listing:
    """Return the listing. Raises `DecompilationError` if control runs off the end of the code."""
    if draft.leftovers or may_run_off(draft):
        reached = reach(draft)
        for index in draft.leftovers:
            if not reached[index]:
                draft.steps[index] = ()
    if draft.elidable:
        elide_jumps(draft)
    first = first_instructions(draft)
    handlers, renumbered = used_handlers(draft, first)
    rows = zip(range(len(draft.raws)), draft.steps, draft.raws, draft.lines, draft.handler)
    instructions = [
        Instruction(
            op,
            arg,
            place(draft, first, index, draft.targets[index]) if jumps else -1,
            raw.offset,
            line,
            renumbered[old],
        )
        for index, steps, raw, line, old in rows
        for op, arg, jumps in steps
    ]
    return Listing(draft.code, instructions, handlers)


def may_run_off(draft: Draft) -> bool:
    """Return whether control would run off the end after the last instruction."""
    last = draft.steps[-1]
    return not last or OPERATIONS[last[-1].op].falls


def first_instructions(draft: Draft) -> list[int]:
    """Return per raw instruction the index of the first operation at or after it."""
    return list(accumulate(map(len, draft.steps), initial=0))


def elide_jumps(draft: Draft) -> None:
    """Remove the jumps of folds to the instruction that follows them."""
    following = len(draft.raws)
    kept = [following] * (len(draft.raws) + 1)
    for index in range(len(draft.raws) - 1, -1, -1):
        if index in draft.elidable and kept[draft.targets[index]] == following:
            draft.steps[index] = draft.steps[index][:-1]
            draft.retarget(index, -1)
        if draft.steps[index]:
            following = index
        kept[index] = following


def place(draft: Draft, first: list[int], source: int, target: int) -> int:
    """Return the index of the operation for a raw target.

    Args:
        draft: the draft, for the error.
        first: by raw instruction, the index of the first operation at or after it.
        source: the raw instruction that jumps, for the error.
        target: the raw instruction that it jumps to.

    Raises:
        DecompilationError: no operation is at or after the target.
    """
    if first[target] == first[-1]:
        raise draft.fail(source, "control runs off the end of the code")
    return first[target]


def used_handlers(draft: Draft, first: list[int]) -> tuple[list[Handler], dict[int, int]]:
    """Return the handlers that still protect something, and new indices for the old ones."""
    handlers: list[Handler] = []
    renumbered = {-1: -1}
    if not draft.handlers:
        return handlers, renumbered
    for index, old in enumerate(draft.handler):
        if old in renumbered or not draft.steps[index]:
            continue
        handler = draft.handlers[old]
        renumbered[old] = len(handlers)
        target = place(draft, first, index, handler.target)
        handlers.append(Handler(target, handler.depth, handler.lasti))
    return handlers, renumbered


def reach(draft: Draft) -> bytearray:
    """Mark the reachable raw instructions."""
    reached = bytearray(len(draft.raws))
    stack = [0]
    while stack:
        index = stack.pop()
        if index == len(draft.raws):
            raise draft.fail(index - 1, "control runs off the end of the code")
        if reached[index]:
            continue
        reached[index] = 1
        steps = draft.steps[index]
        if draft.targets[index] >= 0 and steps:
            stack.append(draft.targets[index])
        if draft.handler[index] >= 0 and steps:
            stack.append(draft.handlers[draft.handler[index]].target)
        if not steps or OPERATIONS[steps[-1].op].falls:
            stack.append(index + 1)
    return reached
