"""Fold the end of a `for` loop.

    FOR_ITER E; ... E: END_FOR; ...    =>    FOR_ITER E'; ... E': ...     (the iterator is gone at E')
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft, Fold
from depyf.bytecode.operand import Step

KEEPING = (Step("COPY", 1), Step("FOR_ITER", None, True), Step("SWAP", 2), Step("POP"))
"""A FOR_ITER whose iterator stays on the stack at the exit."""


def fold_loop_ends(skipped: int) -> Fold:
    """Return the fold for interpreters that jump past `skipped` instructions and pop the iterator."""

    def fold(draft: Draft) -> None:
        for index, raw in enumerate(draft.raws):
            if raw.name == "FOR_ITER":
                skip(draft, index, skipped)

    return fold


def fold_loop_ends_and_pop(draft: Draft) -> None:
    """If a separate instruction pops the iterator, let the jump pop it."""
    for index, raw in enumerate(draft.raws):
        if raw.name != "FOR_ITER":
            continue
        popping = draft.name(draft.targets[index] + 1) == "POP_ITER"
        skip(draft, index, 2 if popping else 1)
        if not popping:
            draft.steps[index] = KEEPING


def skip(draft: Draft, index: int, count: int) -> None:
    """Let the loop at `index` exit past `count` instructions.

    Args:
        draft: the draft to change.
        index: the position of the FOR_ITER.
        count: the number of raw instructions at the exit that the interpreter jumps over.

    Raises:
        DecompilationError: the exit would lie past the end of the code.
    """
    target = draft.targets[index]
    if target + count >= len(draft.raws):
        raise draft.fail(index, "the loop ends past the end of the code")
    draft.leftovers.update(range(target, target + count))
    draft.retarget(index, target + count)
