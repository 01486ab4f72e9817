"""Fold the interpreter's operations at the start, the yields and the end of generators.

    RETURN_GENERATOR; POP_TOP           =>    (nothing: calling a generator function does that)
    ASYNC_GEN_WRAP; YIELD_VALUE         =>    YIELD
    handler: STOPITERATION_ERROR; RERAISE    =>    (no handler: generators do that)
    TO_BOOL (not protected by that handler)  =>    UNGUARDED; TO_BOOL
    (another operation outside that handler)    =>    UNGUARDED at the start
"""

from __future__ import annotations

from depyf.bytecode.code import CO_ASYNC_GENERATOR, GENERATORS
from depyf.bytecode.draft import Draft, Fold
from depyf.bytecode.operand import Step
from depyf.bytecode.operations import OPERATIONS
from depyf.errors import DecompilationError

WRAP = Step("INTRINSIC", ("INTRINSIC_ASYNC_GEN_WRAP", 1))
STOP = Step("INTRINSIC", ("INTRINSIC_STOPITERATION_ERROR", 1))
YIELD = Step("YIELD")
UNWRAPPED = Step("YIELD", "unwrapped")
UNGUARDED = Step("UNGUARDED")


def fold_generator_start(draft: Draft) -> None:
    """Remove the creation of the generator.

    Raises `DecompilationError` for code with a generator's flags that makes no generator: it runs as a function.
    """
    is_made = False
    for index in draft.indices("RETURN_GENERATOR"):
        if draft.is_run(index, "RETURN_GENERATOR", "POP_TOP"):
            draft.clear(index, index + 2)
            is_made = True
    if draft.code.flags & GENERATORS and not is_made:
        raise DecompilationError("a generator, by its flags, that makes no generator", code=str(draft.code))


def fold_async_yield(draft: Draft) -> None:
    """Join the wrapping of an asynchronous generator's value with its yield; mark yields without wrapping."""
    if not draft.code.flags & CO_ASYNC_GENERATOR:
        return
    for index, steps in enumerate(draft.steps):
        if steps == (YIELD,):
            draft.steps[index] = (UNWRAPPED,)
    for index, steps in enumerate(draft.steps):
        following = draft.next_kept(index) if steps == (WRAP,) else -1
        if following >= 0 and draft.steps[following] == (UNWRAPPED,):
            draft.steps[index], draft.steps[following] = (), (YIELD,)


def fold_generator_stop(*, jumps_test: bool) -> Fold:
    """Return the fold that removes the handler which turns StopIteration into RuntimeError.

    Args:
        jumps_test: conditional jumps test the truth of any value; else of a bool only, which never raises.
    """

    def fold(draft: Draft) -> None:
        if not draft.code.flags & GENERATORS:
            return
        stops = {number for number, handler in enumerate(draft.handlers) if is_stop(draft, handler.target)}
        handler_indices = {draft.handlers[number].target + place for number in stops for place in (0, 1)}
        mark_unguarded(draft, handler_indices, jumps_test)
        for index, number in enumerate(draft.handler):
            if number in stops:
                draft.protect(index, -1)
        draft.leftovers |= handler_indices

    return fold


def mark_unguarded(draft: Draft, handler_indices: set[int], jumps_test: bool) -> None:
    """Mark the places where a StopIteration could leave a generator unchanged.

    From 3.14 on, the compiler leaves some truth tests unprotected (`loose_tests`), but no other operation.

    Args:
        draft: the draft of a generator or coroutine.
        handler_indices: the raw instructions of the handlers that turn StopIteration into RuntimeError.
        jumps_test: whether conditional jumps test the truth of any value, and so may raise.
    """
    begin = next((index + 2 for index in range(len(draft.raws)) if draft.name(index) == "RETURN_GENERATOR"), -1)
    if draft.name(begin) != "RESUME":
        return
    for index in range(begin, len(draft.raws)):
        is_jump = draft.name(index).startswith("POP_JUMP_IF") and not jumps_test
        if draft.handler[index] < 0 and index not in handler_indices and not is_jump:
            if draft.name(index) == "TO_BOOL":
                draft.steps[index] = (UNGUARDED, *draft.steps[index])
            elif any(OPERATIONS[step.op].raises for step in draft.steps[index] if step.op in OPERATIONS):
                draft.steps[begin] = (UNGUARDED,)
                return


def is_stop(draft: Draft, index: int) -> bool:
    """Return whether the handler that begins here only turns StopIteration into RuntimeError."""
    if draft.steps[index] != (STOP,) or draft.handler[index] >= 0:
        return False
    following = draft.next_kept(index)
    return following == index + 1 and draft.steps[following] == (Step("RERAISE", 1),)
