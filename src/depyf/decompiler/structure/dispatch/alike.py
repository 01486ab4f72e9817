"""Join blocks that do the same, in code that tests patterns.

Before: 2: v1 = CONST None; Return v1   3: POP_EXCEPT v0 -> 2   4: v2 = CONST None; Return v2   5: POP v9 -> 4
After:  2: v1 = CONST None; Return v1   3: POP_EXCEPT v0 -> 2                                   5: POP v9 -> 2

The compiler copies short exits to the jumps that lead there, and the copies may first drop different values. The tests
of a pattern can be written only as one pattern, and belong together only if they fail to one place.
"""

from __future__ import annotations

from collections.abc import Hashable

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph, Raise, Reraise, Return, operation_key
from depyf.decompiler.graph.tails import numbered
from depyf.decompiler.steps import step
from depyf.decompiler.structure.patterns.roots import find_roots
from depyf.decompiler.structure.regions.table import prune

JOINED = (Goto, Raise, Reraise, Return)
"""The exits of blocks that may be joined: tests stay, because each is part of its own statement."""


def join_alike(graph: Graph) -> None:
    """Join all blocks that do the same with the same values, under the same handler."""
    if not find_roots(graph):
        return
    first: dict[Hashable, int] = {}
    onward: dict[int, int] = {}
    for index in postorder(graph):
        block = graph.block(index)
        for edge in block.exit.edges():
            edge.target = onward.get(edge.target, edge.target)
        if not index or not isinstance(block.exit, JOINED) or block.phis:
            continue
        for place in range(_drops(block), -1, -1):
            other = first.setdefault(_word(block, place), index)
            if other != index:
                step("block {} does the same as block {}", index, other)
                block.insts, block.exit = block.insts[:place], Goto(Edge(other))
                if not place:
                    onward[index] = other
                break
    for block in graph.live():
        for edge in block.exit.edges():
            edge.target = onward.get(edge.target, edge.target)
    prune(graph)


def _drops(block: Block) -> int:
    """Return the number of values that a block drops at its start."""
    return next((place for place, inst in enumerate(block.insts) if inst.op != "POP"), len(block.insts))


def _word(block: Block, place: int) -> Hashable:
    """Return a key for a block's operations from a place on, with its own values by number."""
    dropped = [inst.uses[0] for inst in block.insts[:place]]
    uses, names = numbered(block.insts[place:])
    words = [(operation_key(inst), *temps) for inst, temps in zip(block.insts[place:], uses)]
    reads = tuple(names.get(temp, temp) for temp in block.exit.reads())
    ways = [(edge.target, *(names.get(temp, temp) for temp in edge.args)) for edge in block.exit.edges()]
    stack = tuple(temp for temp in block.stack if temp not in dropped)
    return type(block.exit), block.handler, stack, *words, reads, *ways
