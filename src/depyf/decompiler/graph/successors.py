"""The graph of blocks as plain successor lists, handlers included."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Graph


def successors(graph: Graph) -> dict[int, list[int]]:
    """Return the successors of each block, its handler last."""
    targets_of: dict[int, list[int]] = {}
    for block in graph.live():
        targets = [edge.target for edge in block.exit.edges()]
        if block.handler >= 0:
            targets.append(graph.handlers[block.handler].target)
        targets_of[block.index] = targets
    return targets_of


def predecessors(graph: Graph) -> dict[int, list[int]]:
    """Return the predecessors of each block."""
    sources_of: dict[int, list[int]] = {block.index: [] for block in graph.live()}
    for block in graph.live():
        for target in dict.fromkeys(edge.target for edge in block.exit.edges()):
            sources_of[target].append(block.index)
    return sources_of
