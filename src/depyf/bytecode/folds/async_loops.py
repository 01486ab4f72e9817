"""Fold the end of `async for` loops in 3.7, which is spelled out.

    DUP_TOP; LOAD_GLOBAL StopAsyncIteration; COMPARE_OP exception match; POP_JUMP_IF_TRUE E; END_FINALLY
    E: POP_TOP; POP_TOP; POP_TOP; POP_EXCEPT; POP_TOP; ...    =>    END_ASYNC_FOR; ...
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step

TEST = ("DUP_TOP", "LOAD_GLOBAL", "COMPARE_OP", "POP_JUMP_IF_TRUE", "END_FINALLY")
MATCH = (Step("MATCH_EXC"),)
STOP = (Step("LOAD_GLOBAL", "StopAsyncIteration"),)
END = ("POP_TOP", "POP_TOP", "POP_TOP", "POP_EXCEPT", "POP_TOP")


def fold_async_loops(draft: Draft) -> None:
    """Replace each test for StopAsyncIteration at the start of a handler by END_ASYNC_FOR."""
    for index, (raw, handler) in enumerate(zip(draft.raws, draft.targets, strict=True)):
        if raw.name != "SETUP_EXCEPT" or not draft.is_run(handler, *TEST):
            continue
        if draft.steps[handler + 1] != STOP or draft.steps[handler + 2] != MATCH:
            continue
        way_out = draft.targets[handler + 3]
        if draft.is_run(way_out, *END) and draft.entries[handler] == draft.entries[way_out] == 1:
            draft.clear(handler, handler + len(TEST))
            draft.clear(way_out, way_out + len(END))
            draft.retarget(index, way_out)
            draft.steps[way_out] = (Step("END_ASYNC_LOOP"),)
