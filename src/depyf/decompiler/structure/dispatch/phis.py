"""Drop unused phis: a value that only bookkeeping takes from the stack needs no variable.

Before: 1: -> 3 (v1, v5, v3)     2: -> 3 (v2, v6, v4)     3: phi v7, v8, v9: POP_EXCEPT v7; POP v9; f(v8)
After:  1: -> 3 (v5)         2: -> 3 (v6)         3: phi v8: POP_EXCEPT v7; f(v8)
"""

from __future__ import annotations

from collections.abc import Collection

from depyf.decompiler.graph.tac import NULL, Graph
from depyf.decompiler.lift.keep import drop_unread, read_temps
from depyf.decompiler.steps import step


def drop_saved_offsets(graph: Graph) -> None:
    """Drop values that are the saved offset of an exception, which no source can name."""
    offsets = {handler.lasti for handler in graph.handlers} - {NULL}
    if any(arg in offsets for block in graph.live() for edge in block.exit.edges() for arg in edge.args):
        drop_dead_phis(graph)


def drop_dead_phis(graph: Graph, restored: Collection[int] = ()) -> None:
    """Remove unused phis, their arguments, and the operations that only drop them.

    Args:
        restored: temporaries of exceptions that bookkeeping restores; they count as used.
    """
    read = read_temps(graph, restored)
    drop_unread(graph, restored)
    for block in graph.live():
        for edge in block.exit.edges():
            pairs = zip(graph.block(edge.target).phis, edge.args)
            edge.args = [arg for phi, arg in pairs if phi in read]
    dropped: set[int] = set()
    for block in graph.live():
        for phi in block.phis:
            if phi not in read:
                step("block {}: v{} is unused", block.index, phi)
                dropped.add(phi)
        block.phis = [phi for phi in block.phis if phi in read]
    for block in graph.live():
        block.insts = [inst for inst in block.insts if inst.op != "POP" or inst.uses[0] not in dropped]
