"""The unbinding of `except E as name`.

Before: the clause's body is protected by a handler that does `name = None; del name` and raises again;
        every way out of the body does POP_EXCEPT; name = None; del name
After:  neither; the name's store at the start of the clause says it all
"""

from __future__ import annotations

from depyf.lift.tac import Block, Inst
from depyf.structure.regions.table import Region, Regions, skip_empty


def strip(regions: Regions, region: Region) -> bool:
    """Take the unbinding out; return False, and change nothing, where a way out lacks it."""
    graph = regions.graph
    target = graph.block(graph.handlers[region.handler].target)
    store, delete = target.insts[1], target.insts[2]
    body = regions.body(region.handler)
    found: dict[int, tuple[Block, list[Inst]]] = {}
    for _, edge in regions.exits(body):
        block = skip_empty(graph, edge.target)
        pair = _unbinding(block, store, delete)
        if pair is None:
            return False
        found[block.index] = (block, pair)
    for block, pair in found.values():
        block.insts = [inst for inst in block.insts if inst not in pair]
    regions.dissolve(region.handler)
    return True


def _unbinding(block: Block, store: Inst, delete: Inst) -> list[Inst] | None:
    """Return the two operations that unbind the name, if a block begins with them after POP_EXCEPT."""
    for place, inst in enumerate(block.insts[:-1]):
        following = block.insts[place + 1]
        if (inst.op, inst.arg) == (store.op, store.arg) and (following.op, following.arg) == (delete.op, delete.arg):
            return [inst, following]
        if inst.op not in ("POP_EXCEPT", "CONST", "POP"):
            return None
    return None
