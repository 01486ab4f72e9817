"""Recognise every protected region of a graph and take the compiler's bookkeeping out."""

from __future__ import annotations

from dataclasses import dataclass, field

from depyf.lift.tac import Block, Graph, Return, edges
from depyf.structure.regions import finally_, names, with_
from depyf.structure.regions.jumps import protect_jumps
from depyf.structure.regions.table import Kind, Regions, join_straight, prune, skip_empty

HARMLESS = frozenset({"CONST", "LOAD_FAST", "POP", "POP_EXCEPT", "MOVE"})


@dataclass(slots=True)
class Recognised:
    """The regions that are left, and what is known of them by handler."""

    regions: Regions
    withs: dict[int, with_.With] = field(default_factory=dict)
    finallys: set[int] = field(default_factory=set)


def recognise(graph: Graph) -> Recognised:
    """Strip the regions of a graph and say what each is.

    The copies of a `finally` body are compared with the handler while both are still as the compiler wrote them:
    outer ones first, and of those at one depth the last in the code, as a copy may hold others.
    """
    recognised = Recognised(Regions(graph))
    protect_jumps(graph)
    regions = recognised.regions
    place = {region.handler: graph.handlers[region.handler].target for region in regions.regions}
    order = sorted(
        regions.regions, key=lambda region: (region.kind is not Kind.FINALLY, region.depth, -place[region.handler])
    )
    for region in order:
        if region.handler not in regions.parent or graph.blocks[graph.handlers[region.handler].target] is None:
            regions.parent.pop(region.handler, None)
            continue
        match region.kind:
            case Kind.NAME:
                names.dissolve(regions, region)
            case Kind.WITH:
                found = with_.strip(regions, region)
                if found is not None:
                    recognised.withs[region.handler] = found
            case Kind.FINALLY:
                if finally_.strip(regions, region):
                    recognised.finallys.add(region.handler)
            case _:
                pass
        prune(graph)
    join_straight(graph)
    for region in regions.regions:
        if region.kind is Kind.EXCEPT and region.handler in regions.parent:
            names.strip_unbindings(regions, region)
    join_straight(graph)
    for handler in [number for number in regions.parent if graph.blocks[graph.handlers[number].target] is None]:
        del regions.parent[handler]
    for region in reversed(regions.regions):
        if region.handler in regions.parent and _absorb_returns(recognised, region.handler):
            join_straight(graph)
    return recognised


def _absorb_returns(recognised: Recognised, handler: int) -> bool:
    """Let `return v`, which cannot raise, belong to the region that computes v, if nothing else leads there.

    A `return` of a constant belongs to a `with` unless it is where the `with` goes on after an exception. The only
    way out may as well stand behind the statement, if it does not need a value computed inside.
    Say whether there was one.
    """
    regions = recognised.regions
    graph = regions.graph
    follow = -1
    if handler in recognised.withs:
        follow = next((edge.target for edge in edges(graph.block(graph.handlers[handler].target).exit)), -1)
    found = False
    body = regions.body(handler)
    predecessors: dict[int, set[int]] = {}
    for block in graph.live():
        for edge in edges(block.exit):
            predecessors.setdefault(edge.target, set()).add(block.index)
    exits = [edge.target for _, edge in regions.exits(body)]
    for index in exits:
        block = graph.block(index)
        if isinstance(block.exit, Return) and predecessors[block.index] <= body:
            leaves = follow >= 0 and skip_empty(graph, follow) is not block
            if graph.source_order and block.insts:
                if block.insts[0].offset < graph.block(graph.handlers[handler].target).insts[0].offset:
                    block.handler = handler
                    found = True
            elif all(inst.op in HARMLESS for inst in block.insts):
                alone = len(set(exits)) == 1 and not _is_from_elsewhere(block, block.exit.value)
                if leaves or not alone:
                    block.handler = handler
                    found = True
    return found


def _is_from_elsewhere(block: Block, value: int) -> bool:
    return not any(value in inst.defs for inst in block.insts)
