"""Join the copies of the code after an expression statement whose value is a short circuit or a chain.

Before: 0: Branch v1 -> 2, 1     1: POP v1; v2 = b; POP v2; rest     2: POP v1; rest
After:  0: Branch v1 -> 2, 1     1: POP v1; v2 = b -> 3 (v2)         2: -> 3 (v1)         3 (v3): POP v3; rest

The compiler drops the value in one place. It copies a short end of the code after that place to the jumps.
"""

from __future__ import annotations

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Branch, Edge, Goto, Graph, Inst
from depyf.decompiler.graph.tails import lead_to
from depyf.decompiler.steps import step
from depyf.decompiler.structure.copied_ends import Copies
from depyf.decompiler.structure.regions.split import split_block
from depyf.decompiler.structure.regions.table import prune


def join_dropped_copies(graph: Graph) -> None:
    """Join the drops of a test's value with the drops of the value computed after the test."""
    joined: dict[int, Block] = {}
    dropping = {block.index for block in graph.live() if block.insts and block.insts[0].op == "POP"}
    if not any(edge.target in dropping for block in graph.live() for edge in block.exit.edges()):
        return
    for index in postorder(graph):
        block = graph.block(index)
        if isinstance(block.exit, Branch):
            for way, other in ((block.exit.if_true, block.exit.if_false), (block.exit.if_false, block.exit.if_true)):
                shared = _join(graph, block.exit.cond, way, other, joined)
                if shared is not None:
                    joined[index] = shared
                    break
    if joined:
        prune(graph)


def _join(graph: Graph, value: int, way: Edge, other: Edge, joined: dict[int, Block]) -> Block | None:
    """Redirect an edge that only leads to the drop of a tested value to the drop of the other edge's value."""
    short, long = graph.block(way.target), graph.block(other.target)
    place = _drop(short, dict(zip(short.phis, way.args)), value)
    if place is None or short is long or short.handler != long.handler:
        return None
    dropped = short.insts[place].uses[0]
    meeting = long.exit.edge.target if isinstance(long.exit, Goto) and long.exit.edge.args else long.index
    shared = joined.get(meeting)
    if shared is None:
        start = len(long.insts) - (len(short.insts) - place)
        if start < 1 or long.insts[start].op != "POP" or not _is_made(long, start):
            return None
        if not _alike(graph, short, place, long, start):
            return None
        shared = _cut(graph, long, start)
    elif shared.handler != short.handler or not _alike(graph, short, place, shared, 0):
        return None
    step("blocks {} and {} drop their values in block {}", short.index, long.index, shared.index)
    lead_to(short, place, shared, [dropped])
    return shared


def _drop(block: Block, renamed: dict[int, int], value: int) -> int | None:
    """Return where a block drops a value; None if it does anything else before."""
    for place, inst in enumerate(block.insts):
        if inst.op != "POP":
            return None
        if renamed.get(inst.uses[0], inst.uses[0]) == value:
            return place
    return None


def _is_made(block: Block, place: int) -> bool:
    """Return whether a block drops its own value at some place."""
    value = block.insts[place].uses[0]
    return value in block.phis or any(value in inst.defs for inst in block.insts[:place])


def _alike(graph: Graph, left: Block, first: int, right: Block, second: int) -> bool:
    """Return whether two blocks are the same from these places on, where each drops its own value."""
    same_line = left.insts[first].line == right.insts[second].line
    return same_line and Copies(graph).same(left, first + 1, right, second + 1)


def _cut(graph: Graph, block: Block, place: int) -> Block:
    """Cut a block before it drops a value, which becomes one of several there; return the new one."""
    value = block.insts[place].uses[0]
    rest = split_block(graph, block, place)
    phi = graph.new_temp()
    first = rest.insts[0]
    rest.insts[0] = Inst(first.op, first.arg, [phi], [], first.line, first.offset)
    rest.phis = [phi]
    rest.stack = [*(temp for temp in rest.stack if temp != value), phi]
    assert isinstance(block.exit, Goto)
    block.exit = Goto(Edge(rest.index, [value]))
    return rest
