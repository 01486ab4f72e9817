"""Remove unobservable operations whose values are not used.

Before: v1 = LOAD_CONST 0; v2 = BUILD_LIST; POP v2
After:  nothing
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Graph, Inst
from depyf.decompiler.steps import step

INVISIBLE = frozenset({"CONST", "BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE", "LIST_TO_TUPLE", "LOAD_CLOSURE", "MOVE"})


def remove_dead(graph: Graph) -> None:
    """Remove dead operations until there are none."""
    definition, uses = _definitions_and_uses(graph)
    rebound = {inst.arg for block in graph.live() for inst in block.insts if inst.op == "DELETE_FAST"}
    bound = set(graph.code.parameters) - rebound

    def invisible(inst: Inst) -> bool:
        return inst.op in INVISIBLE or (inst.op == "LOAD_FAST" and inst.arg in bound)

    work = [inst for _, inst in sorted(definition.items()) if invisible(inst)]
    dead: set[int] = set()
    while work:
        inst = work.pop()
        if id(inst) in dead or any(map(uses.get, inst.defs)):
            continue
        step("{} is unused; it was made by {}", ", ".join(f"v{temp}" for temp in inst.defs), inst.op)
        dead.add(id(inst))
        for temp in inst.uses:
            uses[temp] = uses.get(temp, 0) - 1
            maker = definition.get(temp)
            if maker is not None and invisible(maker):
                work.append(maker)
    if dead:
        _remove(graph, definition, dead)


def _remove(graph: Graph, definition: dict[int, Inst], dead: set[int]) -> None:
    """Remove dead operations, and operations that only drop their results."""
    gone = {temp for temp, inst in definition.items() if id(inst) in dead}
    for block in graph.live():
        block.insts = [
            inst for inst in block.insts if id(inst) not in dead and not (inst.op == "POP" and inst.uses[0] in gone)
        ]


def _definitions_and_uses(graph: Graph) -> tuple[dict[int, Inst], dict[int, int]]:
    """Return the definition of each temporary, and its number of uses; a drop is not a use."""
    definition: dict[int, Inst] = {}
    uses: dict[int, int] = {}
    for block in graph.live():
        for inst in block.insts:
            definition.update(dict.fromkeys(inst.defs, inst))
            if inst.op != "POP":
                _count(uses, inst.uses)
        _count(uses, block.exit.reads())
        for edge in block.exit.edges():
            _count(uses, edge.args)
    return definition, uses


def _count(uses: dict[int, int], temps: list[int]) -> None:
    for temp in temps:
        uses[temp] = uses.get(temp, 0) + 1
