"""Lead edges past empty blocks.

Before: 1 -> 2: POP v -> 3        (v is used elsewhere: the pop is no statement)
After:  1 -> 3
"""

from __future__ import annotations

from operator import ne

from depyf.decompiler.graph.tac import Block, Edge, ForIter, Goto, Graph, seeming
from depyf.decompiler.graph.uses import count_uses
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import Regions, prune


def thread(graph: Graph, markers: set[int], regions: Regions) -> None:
    """Redirect every edge to an empty block to that block's target, unless something is left or entered on the way.

    Apparent fallthroughs keep their targets: they may be the only trace of a statement.

    Args:
        graph: the graph, changed in place.
        markers: temporaries that show the loops and handlers around a block.
        regions: the regions of the graph, which show where handlers are entered and left.
    """
    uses = count_uses(graph)
    stated = _stated(graph, uses)
    for block in graph.live():
        for edge in block.exit.edges():
            if edge is seeming(block.exit):
                continue
            seen = {edge.target}
            while True:
                target = graph.block(edge.target)
                onward = _onward(target, uses, markers, stated)
                if onward is None or onward.target in seen or target.index == graph.end:
                    break
                if not _may_pass(graph, block, target, onward, regions):
                    break
                step("block {} skips block {} and leads to {}", block.index, edge.target, onward.target)
                renamed = dict(zip(target.phis, edge.args))
                edge.args = [renamed.get(arg, arg) for arg in onward.args]
                edge.target = onward.target
                seen.add(edge.target)
    prune(graph)


def _may_pass(graph: Graph, block: Block, target: Block, onward: Edge, regions: Regions) -> bool:
    """Return whether an edge of a block may lead past an empty one."""
    if target.handler not in regions.chain(block.handler) and target.handler >= 0:
        return False
    if _comes_back(graph, block, target, onward, regions):
        return False
    # The head of a loop is no place to assign values.
    return not (isinstance(block.exit, ForIter) and any(map(ne, graph.block(onward.target).phis, onward.args)))


def _comes_back(graph: Graph, block: Block, between: Block, onward: Edge, regions: Regions) -> bool:
    """Return whether a protected region is left and entered again: the loop is around the region, not inside."""
    inside = set(regions.chain(block.handler)) - set(regions.chain(between.handler))
    return not inside.isdisjoint(regions.chain(graph.block(onward.target).handler))


def _stated(graph: Graph, uses: dict[int, int]) -> set[int]:
    """Return the dropped phis with an otherwise unused value: the value of an expression statement."""
    stated: set[int] = set()
    for block in graph.live():
        for edge in block.exit.edges():
            stated.update(phi for phi, arg in zip(graph.block(edge.target).phis, edge.args) if uses.get(arg) == 1)
    return stated


def _onward(block: Block, uses: dict[int, int], markers: set[int], stated: set[int]) -> Edge | None:
    """Return the target of an empty block."""
    if not isinstance(block.exit, Goto):
        return None
    for inst in block.insts:
        if inst.op != "POP" or inst.uses[0] in markers:
            return None
        if not uses.get(inst.uses[0]) and (inst.uses[0] not in block.phis or inst.uses[0] in stated):
            return None
    return block.exit.edge
