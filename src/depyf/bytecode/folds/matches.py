"""Fold pattern matching of 3.10, whose instructions push a bool beside their result.

    MATCH_KEYS; POP_JUMP_IF_FALSE     =>    MATCH_KEYS; COPY 1; CONST None; IS; JUMP_IF_TRUE
    MATCH_CLASS; POP_JUMP_IF_FALSE    =>    likewise, if the jump goes to a POP_TOP of the result
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step

IS_NONE = (Step("COPY", 1), Step("CONST", None), Step("IS", False))
IS_NOT_NONE = (*IS_NONE[:2], Step("IS", True))


def fold_matches(draft: Draft) -> None:
    """Make failed matches leave None on the stack, as newer versions do."""
    for index, raw in enumerate(draft.raws):
        if raw.name not in ("MATCH_KEYS", "MATCH_CLASS"):
            continue
        test = draft.next_kept(index)
        jumps = test >= 0 and draft.name(test) == "POP_JUMP_IF_FALSE"
        if jumps and (raw.name == "MATCH_KEYS" or draft.name(draft.targets[test]) == "POP_TOP"):
            draft.steps[index] = (Step(raw.name, draft.steps[index][0].arg), *IS_NONE)
            draft.steps[test] = (Step("JUMP_IF_TRUE", None, True),)
        elif raw.name == "MATCH_KEYS":
            draft.steps[index] = (Step("MATCH_KEYS"), *IS_NOT_NONE)
        else:
            draft.steps[index] = (Step("MATCH_CLASS_OR_SUBJECT", raw.arg),)
