"""How often each value is used."""

from __future__ import annotations

from depyf.lift.tac import Graph, edges, exit_uses


def count_uses(graph: Graph) -> dict[int, int]:
    """Return how often each temporary is read; being popped is no use."""
    uses: dict[int, int] = {}
    for block in graph.live():
        for inst in block.insts:
            if inst.op != "POP":
                for temp in inst.uses:
                    uses[temp] = uses.get(temp, 0) + 1
        for temp in exit_uses(block.exit):
            uses[temp] = uses.get(temp, 0) + 1
        for edge in edges(block.exit):
            for temp in edge.args:
                uses[temp] = uses.get(temp, 0) + 1
    return uses
