"""Recognise the exception of `assert` if the compiler loads it as a global.

POP_JUMP_IF_TRUE L; LOAD_GLOBAL AssertionError; [message; CALL_FUNCTION 1;] RAISE_VARARGS 1; L:
=>  the same with LOAD_COMMON AssertionError

`if not c: raise AssertionError(m)` compiles to the same code, except for a constant `c` and for the lines. An `assert`
raises on the line of its test or before it, a `raise` below its `if` after it. In the same way `if c: raise` compiles
like `assert not c`. Without line numbers, the code is not an `assert`. Code compiled with `-O` has no `assert`.
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step

GLOBAL = (Step("LOAD_GLOBAL", "AssertionError"),)
MESSAGE = Step("CALL", (1, "plain"))
TESTS = ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")


def fold_asserts(draft: Draft) -> None:
    """Distinguish the exception of `assert` from other globals."""
    if draft.code.optimised:
        return
    raised = -1
    for index in range(len(draft.raws) - 1, -1, -1):
        if draft.steps[index] == (Step("RAISE", 1),):
            raised = index
        elif draft.steps[index] == GLOBAL and _is_assert(draft, index, raised):
            draft.steps[index] = (Step("LOAD_COMMON", "AssertionError"),)


def _is_assert(draft: Draft, index: int, raised: int) -> bool:
    """Return whether the exception loaded at `index` and raised at `raised` belongs to an `assert`."""
    if raised < 0 or (raised != index + 1 and draft.steps[raised - 1] != (MESSAGE,)):
        return False
    test = index - 1
    if draft.name(index - 1) == "POP_TOP" and draft.name(index - 2) == "JUMP_FORWARD":
        test = index - 3
    tested, line = draft.lines[test], draft.lines[index]
    if tested is None or line is None:
        if draft.name(test) != "POP_JUMP_IF_TRUE":
            return False
    elif line > tested or draft.name(test) not in TESTS:
        return False
    target, behind = draft.targets[test], raised + 1
    onward = draft.targets[behind] if draft.name(behind) in ("JUMP_FORWARD", "JUMP_ABSOLUTE") else behind
    return target in (behind, onward)
