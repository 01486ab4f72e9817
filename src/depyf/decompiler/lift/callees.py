"""Determine the callee of each call, once the NULL values are known.

Before: CALL NULL f x, or CALL method SELF x
After:  CALL f x
"""

from __future__ import annotations

from typing import cast

from depyf.decompiler.graph.tac import NULL, SELF, Graph, Inst
from depyf.errors import DecompilationError


def settle_callees(graph: Graph, calls: list[Inst]) -> None:
    """Drop the missing `self` of every call; the argument of the operation is then its names, or `has_kwargs`."""
    for inst in calls:
        inst.arg, shape = cast("tuple[object, str]", inst.arg)
        if shape != "plain":
            inst.uses[:2] = _callee(graph, inst)


def _callee(graph: Graph, inst: Inst) -> list[int]:
    low, high = inst.uses[:2]
    if low == NULL:
        return [high]
    if high in (NULL, SELF):
        return [low]
    if inst.op == "CALL_EX":
        raise DecompilationError("CALL_EX of a bound pair", code=str(graph.code), offset=inst.offset)
    return [low, high]
