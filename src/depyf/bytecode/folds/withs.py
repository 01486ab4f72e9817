"""Fold the entry of a `with` block in 3.14 and newer.

    COPY 1; LOAD_SPECIAL __exit__; SWAP 2; SWAP 3; LOAD_SPECIAL __enter__; CALL 0    =>    ENTER_WITH

The interpreter then has `__exit__` as two values, function and self. Normalised code has one value.
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step

ENTER = ("COPY", "LOAD_SPECIAL", "SWAP", "SWAP", "LOAD_SPECIAL", "CALL")
METHODS = {("__exit__", "__enter__"): "ENTER_WITH", ("__aexit__", "__aenter__"): "ENTER_ASYNC_WITH"}


def fold_with_entries(draft: Draft) -> None:
    """Replace each entry by one operation."""
    for index, raw in enumerate(draft.raws):
        if raw.name != ENTER[0] or not draft.is_run(index, *ENTER):
            continue
        args = [step.arg for steps in draft.steps[index : index + len(ENTER)] for step in steps]
        op = METHODS.get((str(args[1]), str(args[4])))
        if op is not None and [args[0], *args[2:4], args[5]] == [1, 2, 3, (0, "above")]:
            last = index + len(ENTER) - 1
            draft.clear(index, last)
            draft.steps[last] = (Step(op), Step("GHOST", 1))
