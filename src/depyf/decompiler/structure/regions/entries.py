"""Loops around a `try` that begins with a loop.

Before: 1 -> 2; 2, 3 are protected; 3 -> 2, 4; 4 -> 2                 (4 is not protected)
After:  1 -> 5; 2, 3 are protected; 3 -> 2, 4; 4 -> 5; 5 -> 2         (2 is the head of one loop, 5 of the other)

If an operation opens a protected block, a jump out of the region to its first block passes the operation, and begins
the `try` again; a jump inside does not. The graph has no such operation, so this pass restores its place.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Edge, Leave
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import Kind, Region, Regions


def part_entries(regions: Regions) -> None:
    """Put a block before each `try` whose first block is the head of both an inner and an outer loop."""
    for region in regions.regions:
        if region.kind is Kind.EXCEPT and region.handler in regions.parent:
            entry = _head_of_two(regions, region)
            if entry is not None:
                _part(regions, region, entry)


def _head_of_two(regions: Regions, region: Region) -> Block | None:
    """Return the only entry block of a region, if blocks inside and later ones outside lead to it."""
    graph, ways = regions.graph, regions.ways
    body = regions.body(region.handler)
    entered = [index for index in body if index == 0 or any(source not in body for source in ways.sources(index))]
    if len(entered) != 1:
        return None
    entry = graph.block(entered[0])
    sources = [graph.block(source) for source in ways.sources(entry.index)]
    again = any(source.index not in body and source.offset > entry.offset for source in sources)
    inside = any(source.index in body for source in sources)
    return entry if again and inside and not entry.phis else None


def _part(regions: Regions, region: Region, entry: Block) -> None:
    """Split the entry of a region: jumps from outside lead to a new block before it."""
    graph, ways = regions.graph, regions.ways
    body = regions.body(region.handler)
    step("block {} begins a loop inside a try and one around it", entry.index)
    head, parent = entry, regions.parent[region.handler]
    if entry.index == 0:  # The code still begins there.
        inner = graph.new_block(entry.insts, entry.exit, entry.handler, list(entry.stack), entry.offset)
        body.add(inner.index)
        entry.insts, entry.handler = [], parent
        ways.note(inner)
    else:
        inner = entry
        head = graph.new_block([], entry.exit, parent, list(entry.stack), entry.offset)
    head.exit = Leave(Edge(inner.index, []), None, explicit=False)
    for source in list(ways.sources(entry.index)):
        block = graph.block(source)
        for edge in block.exit.edges() if block is not head else ():
            if edge.target == entry.index:
                edge.target = inner.index if source in body else head.index
        ways.note(block)
    ways.note(head)
