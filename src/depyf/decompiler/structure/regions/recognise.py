"""Recognise every protected region of a graph and remove the compiler's bookkeeping."""

from __future__ import annotations

from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Graph, Return
from depyf.decompiler.lift.phis import settle_phis
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions import finally_, names, with_
from depyf.decompiler.structure.regions.entries import part_entries
from depyf.decompiler.structure.regions.jumps import protect_jumps
from depyf.decompiler.structure.regions.table import Kind, Region, Regions, join_straight, prune, skip_empty

HARMLESS = frozenset({"CONST", "POP", "POP_EXCEPT", "MOVE"})
"""Operations before a return that cannot raise. A variable that is returned from inside is loaded there."""
FAR = 1 << 40


@dataclass(slots=True)
class Recognised:
    """The remaining regions, with the facts about them by handler."""

    regions: Regions
    withs: dict[int, with_.With] = field(default_factory=dict)
    finallys: set[int] = field(default_factory=set)


def recognise(graph: Graph) -> Recognised:
    """Strip the regions of a graph and determine their kinds.

    The copies of a `finally` body are compared with the handler while both are unchanged. Outer regions come first, and
    at one depth the region that begins first, because others may be in a copy of its body.
    """
    recognised = Recognised(Regions(graph))
    regions = recognised.regions
    if not graph.handlers:
        return recognised
    if not graph.exact_ranges:
        protect_jumps(regions)
    start = _starts(regions)
    order = sorted(
        regions.regions, key=lambda region: (region.kind is not Kind.FINALLY, region.depth, start[region.handler])
    )
    for region in order:
        if graph.blocks[graph.handlers[region.handler].target] is None:
            del regions.parent[region.handler]
            continue
        step("handler {} is {}: remove its bookkeeping", region.handler, region.kind.value)
        _strip(recognised, region)
    prune(graph)
    settle_phis(graph)
    join_straight(graph)
    left = [region for region in regions.regions if region.handler in regions.parent]
    names.strip_unbindings(graph, [region.handler for region in left if region.kind is Kind.EXCEPT])
    join_straight(graph)
    for handler in [number for number in regions.parent if graph.blocks[graph.handlers[number].target] is None]:
        del regions.parent[handler]
    regions.renew_ways()
    for region in reversed(regions.regions):
        if region.handler in regions.parent:
            _absorb_returns(recognised, region.handler)
    if graph.exact_ranges:
        part_entries(regions)
    return recognised


def _strip(recognised: Recognised, region: Region) -> None:
    """Remove the bookkeeping of one region, and record its kind."""
    match region.kind:
        case Kind.NAME:
            names.dissolve(recognised.regions, region)
        case Kind.WITH:
            stripped = with_.strip(recognised.regions, region)
            if stripped is not None:
                recognised.withs[region.handler] = stripped
        case Kind.FINALLY:
            if finally_.strip(recognised.regions, region):
                recognised.finallys.add(region.handler)
        case _:
            pass


def _starts(regions: Regions) -> dict[int, int]:
    """Return for each handler the offset at which its protected code begins, directly or around inner handlers."""
    starts: dict[int, int] = {}
    for region in regions.regions:  # inner ones first
        offsets = [regions.graph.block(index).offset for index in regions.ways.protected(region.handler)]
        starts[region.handler] = start = min([starts.get(region.handler, FAR), *offsets])
        starts[region.parent] = min(start, starts.get(region.parent, FAR))
    return starts


def _absorb_returns(recognised: Recognised, handler: int) -> None:
    """Move `return v`, which cannot raise, into the region that computes v, if nothing else leads there.

    A `return` of a constant belongs to a `with` unless the `with` continues there after an exception. The only exit may
    as well follow the statement, if it does not need a value computed inside.
    """
    regions = recognised.regions
    graph, ways = regions.graph, regions.ways
    follow = -1
    if handler in recognised.withs:
        follow = next((edge.target for edge in graph.block(graph.handlers[handler].target).exit.edges()), -1)
    body = regions.body(handler)
    exits = dict.fromkeys(edge.target for _, edge in regions.exits(body))
    absorbed: list[Block] = []
    for index in exits:
        block = graph.block(index)
        if isinstance(block.exit, Return) and all(source in body for source in ways.sources(index)):
            leaves = follow >= 0 and skip_empty(graph, follow) is not block
            is_inside = leaves or len(exits) > 1 or _is_from_elsewhere(block, block.exit.value)
            if is_inside and all(inst.op in HARMLESS for inst in block.insts):
                absorbed.append(block)
    for block in absorbed:
        before = list(ways.sources(block.index))
        step("block {} returns from inside the region of handler {}", block.index, handler)
        block.handler = handler
        ways.note(block)
        if len(before) == 1:
            ways.join(graph.block(before[0]))


def _is_from_elsewhere(block: Block, value: int) -> bool:
    return not any(value in inst.defs for inst in block.insts)
