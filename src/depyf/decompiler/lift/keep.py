"""The values on a handler's stack: drop KEEP operations whose phi is never read."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from depyf.decompiler.graph.tac import KEEP, Graph, Inst

BOOKKEEPING = frozenset({"POP", "POP_EXCEPT", "PUSH_EXC_INFO"})
"""Bookkeeping operations without a visible effect; a value that only they use needs no variable."""


def read_temps(graph: Graph, restored: Collection[int] = ()) -> set[int]:
    """Return the temporaries that an operation reads, directly or through phis.

    Args:
        restored: temporaries of exceptions that will be handled again; they also count as read.
    """
    sources: dict[int, list[int]] = {}
    read: set[int] = set(restored)
    for block in graph.live():
        for inst in block.insts:
            if inst.op == KEEP:
                sources.setdefault(cast(int, inst.arg), []).extend(inst.uses)
            elif inst.uses and inst.op not in BOOKKEEPING:
                read.update(inst.uses)
        read.update(block.exit.reads())
        for edge in block.exit.edges():
            for phi, arg in zip(graph.block(edge.target).phis, edge.args):
                sources.setdefault(phi, []).append(arg)
    work = list(read & sources.keys())
    while work:
        for temp in sources[work.pop()]:
            if temp not in read:
                read.add(temp)
                if temp in sources:
                    work.append(temp)
    return read


def take_kept(graph: Graph) -> None:
    """Begin each handler with moves of the values that were kept for it."""
    for handler in graph.handlers:
        block = graph.blocks[handler.target]
        if block is None or not handler.slots:
            continue
        place = 1 if block.insts and block.insts[0].op == "PUSH_EXC_INFO" else 0
        pairs = zip(handler.phis, handler.slots)
        block.insts[place:place] = [
            Inst(KEEP, phi, [slot], [], None, block.offset) for phi, slot in pairs if phi in block.phis
        ]


def drop_unread(graph: Graph, restored: Collection[int] = ()) -> None:
    """Remove the KEEP operations whose phi is never read.

    Args:
        restored: as for `read_temps`.
    """
    if not graph.handlers:
        return
    keeping = [block for block in graph.live() if KEEP in [inst.op for inst in block.insts]]
    read = read_temps(graph, restored) if keeping else set()
    for block in keeping:
        block.insts = [inst for inst in block.insts if inst.op != KEEP or inst.arg in read]
