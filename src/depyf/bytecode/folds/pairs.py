"""Fold two-step operations of newer versions that were one operation before.

    LOAD_LOCALS; LOAD_FROM_DICT_OR_DEREF x    =>    LOAD_CLASSDEREF x
    CALL_INTRINSIC_1 IMPORT_STAR; POP_TOP     =>    IMPORT_STAR
    PUSH_NULL; CALL_FUNCTION_EX               =>    CALL_EX without keyword arguments
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.expansions import INTRINSICS
from depyf.bytecode.operand import Step

NULLS = ("NULL", "LATER_NULL")


def fold_class_loads(draft: Draft) -> None:
    """Join the look-up in a class body's names with the look-up in the cell."""
    for index, raw in enumerate(draft.raws):
        if raw.name == "LOAD_LOCALS" and draft.is_run(index, "LOAD_LOCALS", "LOAD_FROM_DICT_OR_DEREF"):
            ((_, name, _),) = draft.steps[index + 1]
            draft.steps[index], draft.steps[index + 1] = (), (Step("LOAD_CLASSDEREF", name),)


def fold_import_star(draft: Draft) -> None:
    """Drop the None that the intrinsic pushes."""
    star = INTRINSICS["INTRINSIC_IMPORT_STAR"]
    for index, steps in enumerate(draft.steps):
        following = draft.next_kept(index) if steps == star else -1
        if following >= 0 and draft.name(following) == "POP_TOP":
            draft.steps[index], draft.steps[following] = star[:1], ()


def fold_null_keywords(draft: Draft) -> None:
    """Mark calls without keyword arguments; the NULL before the call may belong to the load of the arguments."""
    for call in range(1, len(draft.raws)):
        before = draft.steps[call - 1]
        if draft.name(call) != "CALL_FUNCTION_EX" or draft.entries[call] or not before or before[-1].op not in NULLS:
            continue
        ((_, arg, _),) = draft.steps[call]
        assert isinstance(arg, tuple)
        draft.steps[call - 1], draft.steps[call] = before[:-1], (Step("CALL_EX", (False, arg[1])),)
