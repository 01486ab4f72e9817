"""Liveness of temporaries at block entries: a temporary is live if some path from there reads it before it is set.

The usual backward analysis (Aho, Lam, Sethi, Ullman, "Compilers", 2nd edition, section 9.2.5), with bit sets. The
temporaries that a handler reads are live in every block that it protects.
"""

from __future__ import annotations

from collections.abc import Iterable

from depyf.decompiler.graph.dominators import reverse_postorder
from depyf.decompiler.graph.successors import successors
from depyf.decompiler.graph.tac import KEEP, Block, Graph


def alive_at_entry(graph: Graph) -> dict[int, int]:
    """Return for each block the temporaries that are live at its entry: bit `t` stands for temporary `t`."""
    links = successors(graph)
    reads, makes = {}, {}
    for block in graph.live():
        reads[block.index], makes[block.index] = _reads_and_makes(block)
    before: dict[int, list[int]] = {}
    for index, targets in links.items():
        for target in targets:
            before.setdefault(target, []).append(index)
    alive = dict.fromkeys(links, 0)
    work = list(reverse_postorder(links, 0))
    waiting = set(work)
    while work:
        index = work.pop()
        waiting.discard(index)
        live = reads[index]
        for target in links[index]:
            live |= alive[target] & ~makes[index]
        if live != alive[index]:
            alive[index] = live
            again = [predecessor for predecessor in before.get(index, ()) if predecessor not in waiting]
            work.extend(again)
            waiting.update(again)
    return alive


def _reads_and_makes(block: Block) -> tuple[int, int]:
    """Return two sets: the temporaries that a block reads before it sets them, and the temporaries that it sets."""
    makes = _bits(block.phis)
    reads = 0
    for inst in block.insts:
        for temp in inst.uses:
            if temp >= 0 and not makes >> temp & 1:
                reads |= 1 << temp
        for temp in inst.defs:
            makes |= 1 << temp
        if inst.op == KEEP and isinstance(inst.arg, int):
            makes |= 1 << inst.arg
    reads |= _bits(block.exit.reads()) & ~makes
    for edge in block.exit.edges():
        reads |= _bits(edge.args) & ~makes
    return reads, makes


def _bits(temps: Iterable[int]) -> int:
    bits = 0
    for temp in temps:
        if temp >= 0:
            bits |= 1 << temp
    return bits
