"""Load parameters, constants and unchanging globals where they are used, not in advance.

Before: v1 = LOAD_FAST b; ...; CALL f v1; ...; CALL g v1
After:  v2 = LOAD_FAST b; CALL f v2; ...; v3 = LOAD_FAST b; CALL g v3

Only for variables that the code never assigns or deletes: their loads return the same value everywhere. For a global,
the caller must know that no other code changes it either.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Graph, Inst
from depyf.decompiler.lift.phis import rename_exit
from depyf.decompiler.steps import step

UNCHANGING = "LOAD_GLOBAL_UNCHANGING"
"""The operation that loads an unchanging global; its order does not matter."""


def reload_where_used(graph: Graph, unchanging: frozenset[str]) -> None:
    """Move the loads of unchanging variables, and constants, to their uses.

    Args:
        unchanging: globals that no other code rebinds or deletes while this code runs.
    """
    assigned = {
        inst.arg
        for block in graph.live()
        for inst in block.insts
        if inst.op in ("STORE_FAST", "DELETE_FAST", "LOAD_FAST_CLEAR", "STORE_GLOBAL", "DELETE_GLOBAL")
    }
    parameters = set(graph.code.parameters) - assigned
    loads: dict[int, Inst] = {}
    for block in graph.live():
        for inst in block.insts:
            if inst.op == "CONST" or (inst.op == "LOAD_FAST" and inst.arg in parameters):
                loads[inst.defs[0]] = inst
            elif inst.op == "LOAD_GLOBAL" and inst.arg in unchanging - assigned:
                loads[inst.defs[0]] = Inst(UNCHANGING, inst.arg, [], inst.defs, inst.line, inst.offset)
    carried = {arg for block in graph.live() for edge in block.exit.edges() for arg in edge.args}
    for temp in carried & loads.keys():
        del loads[temp]
    for block in graph.live():
        _rewrite(graph, block, loads)


def _rewrite(graph: Graph, block: Block, loads: dict[int, Inst]) -> None:
    out: list[Inst] = []

    def again(temp: int, near: Inst | None) -> int:
        load = loads[temp]
        line = near.line if near is not None else load.line
        fresh = graph.new_temp()
        step("block {}: v{} is loaded where it is used, as v{}", block.index, temp, fresh)
        out.append(Inst(load.op, load.arg, [], [fresh], line, load.offset))
        return fresh

    loaded = loads.keys()
    for inst in block.insts:
        if inst.defs and inst.defs[0] in loads:
            continue
        if inst.op == "POP" and inst.uses[0] in loads:
            continue
        if not loaded.isdisjoint(inst.uses):
            inst.uses = [again(temp, inst) if temp in loads else temp for temp in inst.uses]
        out.append(inst)
    renamed = {temp: again(temp, None) for temp in block.exit.reads() if temp in loads}
    rename_exit(block.exit, renamed)
    block.insts = out
