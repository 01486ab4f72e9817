"""Visiting orders of blocks."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Graph


def postorder(graph: Graph) -> list[int]:
    """Return the indices of all blocks, every block after its successors (except for loops).

    Handlers are visited from the first block that they protect.
    """
    order: list[int] = []
    seen = {0}
    stack = [(0, _successors(graph, 0))]
    while stack:
        index, rest = stack[-1]
        while rest:
            target = rest.pop()
            if target not in seen:
                seen.add(target)
                stack.append((target, _successors(graph, target)))
                break
        else:
            stack.pop()
            order.append(index)
    return order


def _successors(graph: Graph, index: int) -> list[int]:
    """Return the successors of a block; the last one is visited first."""
    block = graph.blocks[index]
    assert block is not None, f"block {index} was removed"
    edges = block.exit.edges()
    handler = block.handler
    if len(edges) == 1 and handler < 0:
        return [edges[0].target]
    targets = [edge.target for edge in edges]
    if handler >= 0:
        targets.append(graph.handlers[handler].target)
    targets.sort()
    return targets
