"""Drop parts of patterns that are on the stack at a merge only to be dropped.

Before: 8: v24 = phi(v20, v26); POP v24
After:  8: (nothing)
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from depyf.decompiler.graph.tac import Graph


def drop_junk(graph: Graph, parts: AbstractSet[int]) -> None:
    """Remove phis of parts whose only uses are POPs and other such phis."""
    passed: dict[int, list[int]] = {}
    for block in graph.live():
        for edge in block.exit.edges():
            for phi, arg in zip(graph.block(edge.target).phis, edge.args):
                passed.setdefault(phi, []).append(arg)
    phis = {phi for phi, args in passed.items() if not parts.isdisjoint((phi, *args))}
    junk = phis - _wanted(graph, passed, phis)
    for block in graph.live():
        for edge in block.exit.edges():
            edge.args = [arg for phi, arg in zip(graph.block(edge.target).phis, edge.args) if phi not in junk]
    for block in graph.live():
        block.insts = [inst for inst in block.insts if inst.op != "POP" or inst.uses[0] not in junk]
        block.phis = [phi for phi in block.phis if phi not in junk]


def _wanted(graph: Graph, passed: dict[int, list[int]], phis: AbstractSet[int]) -> set[int]:
    """Return the phis with other uses, directly or through other phis."""
    work: list[int] = [arg for phi, args in passed.items() if phi not in phis for arg in args]
    for block in graph.live():
        work.extend(temp for inst in block.insts if inst.op != "POP" for temp in inst.uses)
        work.extend(block.exit.reads())
    wanted: set[int] = set()
    while work:
        temp = work.pop()
        if temp in phis and temp not in wanted:
            wanted.add(temp)
            work.extend(passed[temp])
    return wanted
