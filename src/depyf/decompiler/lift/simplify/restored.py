"""Drop stores that assign a variable its current value.

Before: v1 = LOAD_FAST a; v2 = LOAD_FAST b; STORE_FAST b v2; STORE_FAST a v1
After:  v1 = LOAD_FAST a; v2 = LOAD_FAST b

Dynamo restores all variables after a graph, including unchanged ones.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Graph, Inst
from depyf.decompiler.steps import step

ENDS = ("DELETE_FAST", "LOAD_FAST_CLEAR")
"""Operations that unbind a variable."""


def drop_restored(graph: Graph) -> None:
    """Drop each store of a variable's current value, unless the order of a load that may fail must be kept."""
    unbound = {inst.arg for block in graph.live() for inst in block.insts if inst.op in ENDS}
    bound = set(graph.code.parameters) - unbound
    for block in graph.live():
        block.insts = _kept(block, bound)


def _kept(block: Block, bound: set[str]) -> list[Inst]:
    holds: dict[object, int] = {}
    same: dict[int, int] = {}
    kept = []
    for inst in block.insts:
        if inst.op == "LOAD_FAST":
            if inst.arg in holds:
                same[inst.defs[0]] = holds[inst.arg]
            elif inst.arg in bound:
                holds[inst.arg] = inst.defs[0]
        elif inst.op == "STORE_FAST":
            value = same.get(inst.uses[0], inst.uses[0])
            if holds.get(inst.arg) == value:
                step("block {}: {} gets its current value", block.index, inst.arg)
                continue
            holds[inst.arg] = value
        elif inst.op in ENDS:
            holds.pop(inst.arg, None)
        kept.append(inst)
    return kept
