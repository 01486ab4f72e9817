"""Find the reads of local variables that may be unbound. They may raise, so their order matters.

A variable is bound at a place if it is bound on every path to it. The analysis uses bit sets over the variables, joined
over all edges including those to handlers (Kildall, "A unified approach to global program optimization", 1973).
"""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Graph, Inst

NAMING = frozenset({"LOAD_FAST", "STORE_FAST", "DELETE_FAST", "LOAD_FAST_CLEAR"})
NOTHING: set[int] = set()


@dataclass(slots=True)
class _Effect:
    """The effect of a block: the variables bound at its end, those unbound there, those unbound at any place in it."""

    bound: int = 0
    unbound: int = 0
    ever_unbound: int = 0


def unsure_reads(graph: Graph) -> set[int]:
    """Return the temporaries that were read from variables that may have been unbound."""
    naming = {block.index: [inst for inst in block.insts if inst.op in NAMING] for block in graph.live()}
    if all(binds(inst, NOTHING) for insts in naming.values() for inst in insts):
        bound = _bound_first(graph, naming[0])
        naming = {index: [inst for inst in insts if inst.arg not in bound] for index, insts in naming.items()}
        if not any(naming.values()):
            return set()
    names = sorted({str(inst.arg) for insts in naming.values() for inst in insts})
    bits = {name: 1 << place for place, name in enumerate(names)}
    nullable: set[int] = set()
    while True:
        unsure = _find(graph, naming, bits, nullable)
        # The value of a possibly unbound variable may be null. A store of it unbinds its target.
        taken = {
            inst.defs[0]
            for insts in naming.values()
            for inst in insts
            if inst.op == "LOAD_FAST_CLEAR" and inst.defs[0] in unsure
        }
        if taken <= nullable:
            return unsure
        nullable |= taken


def _bound_first(graph: Graph, insts: list[Inst]) -> set[object]:
    """Return the parameters, and the variables that the first block binds before a read that may raise.

    Args:
        insts: the operations of that block that name variables.
    """
    bound: set[object] = set(graph.code.parameters)
    if graph.block(0).handler < 0:
        for inst in insts:
            if inst.op == "STORE_FAST":
                bound.add(inst.arg)
            elif inst.arg not in bound:
                break
    return bound


def _find(graph: Graph, naming: dict[int, list[Inst]], bits: dict[str, int], nullable: set[int]) -> set[int]:
    effects = {index: _effect(insts, bits, nullable) for index, insts in naming.items()}
    everything = (1 << len(bits)) - 1
    before = dict.fromkeys(effects, everything)
    before[0] = sum(bits[name] for name in set(graph.code.parameters) if name in bits)
    work = sorted(effects, reverse=True)
    while work:
        index = work.pop()
        block, effect = graph.block(index), effects[index]
        unknown = ~((before[index] | effect.bound) & ~effect.unbound)
        for edge in block.exit.edges():
            if before[edge.target] & unknown:
                before[edge.target] &= ~unknown
                work.append(edge.target)
        if block.handler >= 0:
            target, unknown = graph.handlers[block.handler].target, ~before[index] | effect.ever_unbound
            if before[target] & unknown:
                before[target] &= ~unknown
                work.append(target)
    unsure: set[int] = set()
    for index, insts in naming.items():
        unsure.update(_unsure(insts, before[index], bits, nullable))
    return unsure


def _effect(insts: list[Inst], bits: dict[str, int], nullable: set[int]) -> _Effect:
    effect = _Effect()
    for inst in insts:
        bit = bits[str(inst.arg)]
        if binds(inst, nullable):
            effect.bound, effect.unbound = effect.bound | bit, effect.unbound & ~bit
        else:
            effect.bound, effect.unbound = effect.bound & ~bit, effect.unbound | bit
            effect.ever_unbound |= bit
    return effect


def _unsure(insts: list[Inst], known: int, bits: dict[str, int], nullable: set[int]) -> list[int]:
    unsure: list[int] = []
    for inst in insts:
        bit = bits[str(inst.arg)]
        if inst.op in ("LOAD_FAST", "LOAD_FAST_CLEAR") and not known & bit:
            unsure.append(inst.defs[0])
        known = known | bit if binds(inst, nullable) else known & ~bit
    return unsure


def binds(inst: Inst, nullable: set[int]) -> bool:
    """Return whether a variable is bound after an operation that names it."""
    if inst.op == "STORE_FAST":
        return inst.uses[0] >= 0 and inst.uses[0] not in nullable
    return inst.op == "LOAD_FAST"
