"""Drop the phis that nobody reads: what only bookkeeping takes from the stack needs no variable.

Before: 1: -> 3 (v1, v5)     2: -> 3 (v2, v6)     3: phi v7, v8: POP_EXCEPT v7; f(v8)
After:  1: -> 3 (v5)         2: -> 3 (v6)         3: phi v8: POP_EXCEPT v7; f(v8)
"""

from __future__ import annotations

from depyf.lift.tac import Graph, edges, exit_uses

BOOKKEEPING = frozenset({"POP", "POP_EXCEPT", "PUSH_EXC_INFO"})


def drop_dead_phis(graph: Graph) -> None:
    """Remove phis that no operation reads, and their arguments."""
    sources: dict[int, list[int]] = {}
    work: list[int] = []
    for block in graph.live():
        work.extend(temp for inst in block.insts if inst.op not in BOOKKEEPING for temp in inst.uses)
        work.extend(exit_uses(block.exit))
        for edge in edges(block.exit):
            for phi, arg in zip(graph.block(edge.target).phis, edge.args):
                sources.setdefault(phi, []).append(arg)
    read: set[int] = set()
    while work:
        temp = work.pop()
        if temp not in read:
            read.add(temp)
            work.extend(sources.get(temp, ()))
    for block in graph.live():
        for edge in edges(block.exit):
            pairs = zip(graph.block(edge.target).phis, edge.args)
            edge.args = [arg for phi, arg in pairs if phi in read]
    for block in graph.live():
        block.phis = [phi for phi in block.phis if phi in read]
