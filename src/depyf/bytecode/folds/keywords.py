"""Fold keyword names that reach a call through a register of the interpreter.

    KW_NAMES names; PRECALL n; CALL n    =>    CONST names; CALL_KW n
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step


def fold_keywords(draft: Draft) -> None:
    """Push the keyword names of each call as a value. Raises if a register is set without a call."""
    for index in draft.indices("KW_NAMES"):
        call = draft.next_kept(index)
        if call < 0 or draft.name(call) != "CALL":
            raise draft.fail(index, "KW_NAMES without a CALL that follows")
        ((_, arg, _),) = draft.steps[call]
        draft.steps[call] = (Step("CALL_KW", arg),)
