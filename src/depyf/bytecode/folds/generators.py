"""What the interpreter does at the start, at the yields, and at the end of generators.

    RETURN_GENERATOR; POP_TOP           =>    (nothing: calling a generator function is that)
    ASYNC_GEN_WRAP; YIELD_VALUE         =>    YIELD
    handler: STOPITERATION_ERROR; RERAISE    =>    (no handler: generators do that)
"""

from __future__ import annotations

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step

WRAP = Step("INTRINSIC", ("INTRINSIC_ASYNC_GEN_WRAP", 1))
STOP = Step("INTRINSIC", ("INTRINSIC_STOPITERATION_ERROR", 1))
YIELD = Step("YIELD")
UNWRAPPED = Step("YIELD", "unwrapped")


def fold_generator_start(draft: Draft) -> None:
    """Remove the creation of the generator."""
    for index in range(len(draft.raws)):
        if draft.is_run(index, "RETURN_GENERATOR", "POP_TOP"):
            draft.clear(index, index + 2)


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


def fold_generator_stop(draft: Draft) -> None:
    """Remove the handler that makes RuntimeError of a StopIteration that leaves a generator."""
    if not draft.code.flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        return
    stops = {number for number, handler in enumerate(draft.handlers) if is_stop(draft, handler.target)}
    for index, number in enumerate(draft.handler):
        if number in stops:
            draft.protect(index, -1)
    for number in stops:
        target = draft.handlers[number].target
        draft.leftovers.update((target, target + 1))


def is_stop(draft: Draft, index: int) -> bool:
    """Tell whether the handler that begins here does nothing but turn StopIteration into RuntimeError."""
    if draft.steps[index] != (STOP,) or draft.handler[index] >= 0:
        return False
    following = draft.next_kept(index)
    return following == index + 1 and draft.steps[following] == (Step("RERAISE", 1),)
