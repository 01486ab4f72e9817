"""Replace variables that are assigned once by their value.

Before: STORE_FAST tmp v1; ...; v2 = LOAD_FAST tmp; ...; DELETE_FAST tmp
After:  v1 in the place of v2; v1 is called `tmp` if it needs a name

The assignment must be on every path to every load, and no deletion on any path to one. Then each load returns the last
assigned value, and cannot fail.
"""

from __future__ import annotations

from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.dominators import Dominance, immediate_dominators
from depyf.decompiler.graph.successors import successors
from depyf.decompiler.graph.tac import Graph, Inst
from depyf.decompiler.lift.phis import rename
from depyf.decompiler.steps import step

INSPECTORS = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Builtins that see variables by name; code with one of these names keeps its variables."""


@dataclass(slots=True)
class _Uses:
    stores: list[tuple[int, int]] = field(default_factory=list)
    loads: list[tuple[int, int]] = field(default_factory=list)
    deletes: list[tuple[int, int]] = field(default_factory=list)


def promote_variables(graph: Graph) -> None:
    """Promote every variable of the graph that can be promoted without changing the meaning."""
    if INSPECTORS & set(graph.code.names):
        return
    parameters = set(graph.code.parameters)
    links = successors(graph)
    dominance = Dominance(immediate_dominators(links, 0))
    same: dict[int, int] = {}
    gone: set[int] = set()
    for name, uses in _variables(graph).items():
        if name in parameters or len(uses.stores) != 1 or not _is_safe(uses, dominance, links):
            continue
        store = _inst(graph, uses.stores[0])
        step("variable {} becomes the value v{}", name, store.uses[0])
        if not name.startswith("tmp_"):
            graph.hints.setdefault(store.uses[0], name)
        gone.add(id(store))
        for place in uses.loads:
            load = _inst(graph, place)
            same[load.defs[0]] = store.uses[0]
            gone.add(id(load))
        gone.update(id(_inst(graph, place)) for place in uses.deletes)
    for block in graph.live():
        block.insts = [inst for inst in block.insts if id(inst) not in gone]
    rename(graph, same)


def _variables(graph: Graph) -> dict[str, _Uses]:
    by_variable: dict[str, _Uses] = {}
    for block in graph.live():
        for number, inst in enumerate(block.insts):
            if inst.op in ("STORE_FAST", "LOAD_FAST", "DELETE_FAST", "LOAD_FAST_CLEAR"):
                uses = by_variable.setdefault(str(inst.arg), _Uses())
                place = (block.index, number)
                if inst.op == "LOAD_FAST":
                    uses.loads.append(place)
                elif inst.op == "DELETE_FAST":
                    uses.deletes.append(place)
                else:
                    uses.stores.append(place)
                    if inst.op == "LOAD_FAST_CLEAR" or inst.uses[0] < 0:
                        uses.stores.append(place)
    return by_variable


def _inst(graph: Graph, place: tuple[int, int]) -> Inst:
    return graph.block(place[0]).insts[place[1]]


def _is_safe(uses: _Uses, dominance: Dominance, links: dict[int, list[int]]) -> bool:
    block, number = uses.stores[0]
    for other, place in [*uses.loads, *uses.deletes]:
        if other == block and place <= number:
            return False
        if not dominance.dominates(block, other):
            return False
    return not any(_reaches(start, end, links) for start in uses.deletes for end in uses.loads)


def _reaches(start: tuple[int, int], end: tuple[int, int], links: dict[int, list[int]]) -> bool:
    """Return whether there is a path from one place to another."""
    if start[0] == end[0] and start[1] < end[1]:
        return True
    seen: set[int] = set()
    work = list(links[start[0]])
    while work:
        block = work.pop()
        if block == end[0]:
            return True
        if block not in seen:
            seen.add(block)
            work.extend(links[block])
    return False
