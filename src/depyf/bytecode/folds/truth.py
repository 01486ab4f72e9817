"""Fold truth tests that the interpreter makes before a jump.

    TO_BOOL; POP_JUMP_IF_FALSE    =>    JUMP_IF_FALSE
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft

TESTS = ("JUMP_IF_TRUE", "JUMP_IF_FALSE")


def fold_truth(draft: Draft) -> None:
    """Remove TO_BOOL if the next operation is itself a truth test, with the same handler."""
    for index, steps in enumerate(draft.steps):
        if not steps or steps[-1].op != "TO_BOOL":
            continue
        test = draft.next_kept(index)
        if test < 0:
            continue
        first = draft.steps[test][0]
        if first.op in TESTS or (first.op == "UNARY" and first.arg == "not"):
            draft.steps[index] = steps[:-1]
            draft.protect(test, draft.handler[index])
