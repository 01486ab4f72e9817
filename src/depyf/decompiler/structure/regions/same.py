"""Compare two pieces of code that may be copies."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Branch, Edge, Goto, Graph, Raise, Reraise, Return
from depyf.decompiler.graph.tails import DROPS, Renaming

LIMIT = 16
"""The most blocks of a copy: compilers copy short code."""


def same_code(graph: Graph, left: Block, right: Block) -> bool:
    """Return whether two blocks and their successors do the same on the same values, up to a merge or an end.

    Values made in the two correspond; earlier values are the same. Drops of values are ignored.

    Args:
        graph: the graph of the blocks.
        left: the first block.
        right: the second block.
    """
    copies = Renaming()
    work = [(left, right)]
    seen: dict[int, int] = {}
    while work:
        first, second = work.pop()
        if first is second or seen.get(first.index) == second.index:
            continue
        if first.index in seen or len(seen) == LIMIT or first.handler != second.handler:
            return False
        seen[first.index] = second.index
        pairs = _step(graph, first, second, copies)
        if pairs is None:
            return False
        work.extend(pairs)
    return True


def _step(graph: Graph, left: Block, right: Block, copies: Renaming) -> list[tuple[Block, Block]] | None:
    """Return the pairs of successors, if two blocks do the same themselves."""
    first, second = ([inst for inst in block.insts if inst.op not in DROPS] for block in (left, right))
    if not copies.same_operations(first, second) or type(left.exit) is not type(right.exit):
        return None
    if not copies.correspond(left.exit.reads(), right.exit.reads()):
        return None
    edges = _edges(left), _edges(right)
    if edges[0] is None or edges[1] is None:
        return None
    for a, b in zip(edges[0], edges[1]):
        if not copies.correspond(a.args, b.args):
            return None
        if a.target != b.target:
            copies.renamed.update(zip(graph.block(a.target).phis, graph.block(b.target).phis))
    return [(graph.block(a.target), graph.block(b.target)) for a, b in zip(edges[0], edges[1])]


def _edges(block: Block) -> list[Edge] | None:
    """Return the edges of an exit; None for one that cannot be compared."""
    match block.exit:
        case Goto(edge):
            return [edge]
        case Branch(_, if_true, if_false):
            return [if_true, if_false]
        case Return() | Raise() | Reraise():
            return []
        case _:
            return None
