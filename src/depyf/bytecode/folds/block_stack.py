"""Fold idioms of the versions with a block stack that newer versions write differently.

    LOAD_CONST qualname; MAKE_FUNCTION                   =>    MAKE_FUNCTION
    POP_BLOCK; LOAD_CONST None; L: (a finally body)      =>    BEGIN_FINALLY
    LOAD_CONST None; DUP_TOP; DUP_TOP; CALL_FUNCTION 3   =>    CONST None, three times; CALL 3
    BEFORE_ASYNC_WITH; GET_AWAITABLE                     =>    GET_AWAITABLE 1
    CALL_FINALLY; [POP_TOP;] JUMP_ABSOLUTE               =>    the jump is a `break` or `continue`
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.expansions import POP
from depyf.bytecode.operand import Step

NONE = Step("CONST", None)
EXITS = ("WITH_EXCEPT_START", "WITH_CLEANUP_START")


def fold_qualnames(draft: Draft) -> None:
    """Remove the qualified names of new functions from the stack, and record those that are constants."""
    for index, raw in enumerate(draft.raws):
        if raw.name != "MAKE_FUNCTION":
            continue
        if index and draft.name(index - 1) == "LOAD_CONST" and not draft.entries[index]:
            draft.function_names[raw.offset] = next((step.arg for step in draft.steps[index - 1]), None)
            draft.steps[index - 1] = ()
        else:
            draft.steps[index] = (POP, *draft.steps[index])


def fold_finally_entries(draft: Draft) -> None:
    """Distinguish the None that begins a `finally` body from other ones."""
    for index, raw in enumerate(draft.raws):
        if raw.name not in ("SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH"):
            continue
        entry = draft.targets[index] - 1
        if draft.steps[entry] == (NONE,) and draft.name(entry - 1) == "POP_BLOCK":
            draft.steps[entry] = (Step("BEGIN_FINALLY"),)


def fold_exit_calls(draft: Draft) -> None:
    """Load each None argument of `__exit__` separately."""
    for index, steps in enumerate(draft.steps):
        if steps == (NONE,) and draft.is_run(index, "LOAD_CONST", "DUP_TOP", "DUP_TOP", "CALL_FUNCTION"):
            if draft.steps[index + 3] == (Step("CALL", (3, "plain")),):
                draft.steps[index + 1] = draft.steps[index + 2] = (NONE,)
                mark_await(draft, index + 4, 2)


def fold_exits(draft: Draft) -> None:
    """Mark the jumps after a called `finally` body as statements: the end of a body calls none."""
    for index, raw in enumerate(draft.raws):
        if raw.name in ("JUMP_ABSOLUTE", "JUMP_FORWARD"):
            before = index - 2 if draft.name(index - 1) == "POP_TOP" else index - 1
            if draft.name(before) == "CALL_FINALLY":
                draft.steps[index] = (Step("JUMP", "continue", True),)


def fold_async_with(draft: Draft) -> None:
    """Mark awaitables that come from `__aenter__` or `__aexit__`."""
    for index, raw in enumerate(draft.raws):
        if raw.name == "BEFORE_ASYNC_WITH":
            mark_await(draft, index + 1, 1)
        elif raw.name in EXITS:
            mark_await(draft, index + 1, 2)


def mark_await(draft: Draft, index: int, origin: int) -> None:
    """Set the argument of a GET_AWAITABLE, if that is the instruction at `index`.

    Args:
        draft: the draft to change.
        index: the position of the raw instruction after the call.
        origin: where the awaitable comes from: 1 for `__aenter__`, 2 for `__aexit__`.
    """
    if draft.name(index) == "GET_AWAITABLE" and not draft.entries[index]:
        draft.steps[index] = (Step("GET_AWAITABLE", origin),)
