"""Fold the loop that passes values between a generator and the one to which it delegates.

    L: SEND E; YIELD_VALUE; RESUME; JUMP_BACKWARD_NO_INTERRUPT L; E:    =>    YIELD_FROM
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step

LOOP = ("SEND", "YIELD_VALUE", "RESUME", "JUMP_BACKWARD_NO_INTERRUPT")
POPS_ITERATOR = Step("SEND", True, True)


def fold_sends(draft: Draft) -> None:
    """Replace each loop that sends by YIELD_FROM; other SENDs stay."""
    for index in draft.indices("SEND"):
        if draft.is_run(index, *LOOP) and draft.targets[index + 3] == index:
            fold_loop(draft, index)


def fold_loop(draft: Draft, index: int) -> None:
    """Fold one loop, if its exit is the compiler's."""
    end = index + len(LOOP)
    way_out = draft.targets[index]
    if draft.steps[index] != (POPS_ITERATOR,):
        if draft.name(way_out) != "END_SEND":
            return
        drop_throw(draft, index + 1, way_out)
        draft.leftovers.add(way_out)
        way_out += 1
    for inner in range(index + 1, end):
        draft.protect(inner, -1)
    draft.clear(index, end)
    draft.steps[index] = (Step("YIELD_FROM"),)
    draft.then_jump(index, way_out)


def drop_throw(draft: Draft, yields: int, way_out: int) -> None:
    """Mark the handler of an exception thrown in at the yield, and its jump back, as leftovers.

    Args:
        draft: the draft to change.
        yields: the position of the YIELD_VALUE in the loop that sends.
        way_out: the position of the END_SEND to which the handler jumps back.
    """
    if draft.handler[yields] < 0:
        return
    throw = draft.handlers[draft.handler[yields]].target
    if draft.name(throw) == "CLEANUP_THROW":
        draft.leftovers.add(throw)
        if draft.targets[throw + 1 : throw + 2] == [way_out] and not draft.entries[throw + 1]:
            draft.leftovers.add(throw + 1)
