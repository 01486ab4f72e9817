"""What the interpreter does at the start and at the yields of generators.

    RETURN_GENERATOR; POP_TOP                  =>    (nothing: calling a generator function is that)
    ASYNC_GEN_WRAP; YIELD_VALUE                =>    YIELD
    L: SEND E; YIELD_VALUE; RESUME; JUMP_BACKWARD_NO_INTERRUPT L; E:    =>    YIELD_FROM
"""

from __future__ import annotations

from depyf.bytecode.code import CO_ASYNC_GENERATOR
from depyf.bytecode.draft import JUMPING, Draft
from depyf.bytecode.operand import Step

WRAP = Step("INTRINSIC", ("INTRINSIC_ASYNC_GEN_WRAP", 1))
YIELD = Step("YIELD")
UNWRAPPED = Step("YIELD", "unwrapped")
SEND_LOOP = ("SEND", "YIELD_VALUE", "RESUME", "JUMP_BACKWARD_NO_INTERRUPT")


def fold_generator_start(draft: Draft) -> None:
    """Remove the creation of the generator."""
    for index in range(len(draft.raws)):
        if draft.is_run(index, "RETURN_GENERATOR", "POP_TOP"):
            draft.clear(index, index + 2)


def fold_send(draft: Draft) -> None:
    """Make YIELD_FROM of each loop that sends; other SENDs stay."""
    for index, raw in enumerate(draft.raws):
        if raw.name != "SEND" or not draft.is_run(index, *SEND_LOOP):
            continue
        back = index + len(SEND_LOOP) - 1
        if draft.targets[back] != index:
            continue
        exit_index = draft.targets[index]
        for inner in range(index + 1, back + 1):
            draft.unprotect(inner)
        draft.clear(index + 1, back + 1)
        if exit_index == back + 1:
            draft.clear(index, index + 1)
            draft.steps[index] = (Step("YIELD_FROM"),)
        else:
            draft.steps[index] = (Step("YIELD_FROM"), JUMPING)


def fold_async_yield(draft: Draft) -> None:
    """Join the wrapping of an asynchronous generator's value with its yield; mark yields without it."""
    if not draft.code.flags & CO_ASYNC_GENERATOR:
        return
    for index, steps in enumerate(draft.steps):
        if steps == (YIELD,):
            draft.steps[index] = (UNWRAPPED,)
    for index, steps in enumerate(draft.steps):
        following = draft.next_kept(index) if steps == (WRAP,) else -1
        if following >= 0 and draft.steps[following] == (UNWRAPPED,):
            draft.steps[index], draft.steps[following] = (), (YIELD,)
