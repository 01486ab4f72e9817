"""Remove operations whose values nobody uses and that nobody can see.

Before: v1 = LOAD_CONST 0; v2 = BUILD_LIST; POP v2
After:  nothing
"""

from __future__ import annotations

from depyf.lift.tac import Graph, Inst
from depyf.trace import step

INVISIBLE = frozenset({"CONST", "BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE", "LIST_TO_TUPLE", "LOAD_CLOSURE", "MOVE"})


def remove_dead(graph: Graph) -> None:
    """Remove dead operations, until none is left."""
    definition: dict[int, Inst] = {}
    uses: dict[int, int] = {}
    parameters = set(graph.code.parameters)
    rebound = {inst.arg for block in graph.live() for inst in block.insts if inst.op == "DELETE_FAST"}
    for block in graph.live():
        for inst in block.insts:
            definition.update((temp, inst) for temp in inst.defs)
            if inst.op != "POP":
                _count(uses, inst.uses)
        _count(uses, block.exit.reads())
        for edge in block.exit.edges():
            _count(uses, edge.args)

    def invisible(inst: Inst) -> bool:
        return inst.op in INVISIBLE or (inst.op == "LOAD_FAST" and inst.arg in parameters - rebound)

    work = [inst for inst in set_of(definition) if invisible(inst)]
    dead: set[int] = set()
    while work:
        inst = work.pop()
        if id(inst) in dead or any(uses.get(temp) for temp in inst.defs):
            continue
        step("nobody uses {}, which {} makes", ", ".join(f"v{temp}" for temp in inst.defs), inst.op)
        dead.add(id(inst))
        for temp in inst.uses:
            uses[temp] = uses.get(temp, 0) - 1
            maker = definition.get(temp)
            if maker is not None and invisible(maker):
                work.append(maker)
    gone = {temp for inst in definition.values() if id(inst) in dead for temp in inst.defs}
    for block in graph.live():
        block.insts = [
            inst for inst in block.insts if id(inst) not in dead and not (inst.op == "POP" and inst.uses[0] in gone)
        ]


def set_of(definition: dict[int, Inst]) -> list[Inst]:
    """Return each operation once, in order of its first temporary."""
    return list({id(inst): inst for _, inst in sorted(definition.items())}.values())


def _count(uses: dict[int, int], temps: list[int]) -> None:
    for temp in temps:
        uses[temp] = uses.get(temp, 0) + 1
