"""Visiting orders of blocks."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Graph


def postorder(graph: Graph) -> list[int]:
    """Return the indices of all blocks, every block after its successors (except for loops).

    Handlers are visited from the first block that they protect.
    """
    order: list[int] = []
    seen = {0}
    stack: list[tuple[int, list[int]]] = [(0, _successors(graph, 0))]
    while stack:
        index, rest = stack[-1]
        if rest:
            target = rest.pop()
            if target not in seen:
                seen.add(target)
                stack.append((target, _successors(graph, target)))
        else:
            stack.pop()
            order.append(index)
    return order


def _successors(graph: Graph, index: int) -> list[int]:
    """Return the successors of a block; the last one is visited first."""
    block = graph.block(index)
    found = [edge.target for edge in block.exit.edges()]
    if block.handler >= 0:
        found.append(graph.handlers[block.handler].target)
    if len(found) > 1:
        found.sort()
    return found
