"""Jumps that no handler protects, between blocks that one does.

Before: blocks 2 and 5 are protected; 2 -> 3 -> 5, where block 3 only jumps, and is not protected
After:  block 3 is protected too

A jump cannot raise, so the compiler may leave it out of the protected range.
"""

from __future__ import annotations

from depyf.lift.tac import Goto, edges
from depyf.structure.regions.table import Regions, skip_empty


def protect_jumps(regions: Regions) -> None:
    """Let a block without operations have the handler of the blocks before and behind it, if that is one."""
    graph = regions.graph
    before: dict[int, set[int]] = {}
    for block in graph.live():
        for edge in edges(block.exit):
            before.setdefault(edge.target, set()).add(block.handler)
    for block in graph.live():
        if not block.insts and isinstance(block.exit, Goto):
            behind = skip_empty(graph, block.exit.edge.target).handler
            if before.get(block.index) == {behind}:
                block.handler = behind
                regions.ways.note(block)
