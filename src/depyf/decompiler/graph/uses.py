"""The number of uses of each value."""

from __future__ import annotations

from collections import Counter

from depyf.decompiler.graph.tac import Graph


def count_uses(graph: Graph) -> dict[int, int]:
    """Return how often each temporary is read; a pop is not a read."""
    read: list[int] = []
    for block in graph.live():
        for inst in block.insts:
            if inst.uses and inst.op != "POP":
                read += inst.uses
        read += block.exit.reads()
        for edge in block.exit.edges():
            read += edge.args
    return Counter(read)
