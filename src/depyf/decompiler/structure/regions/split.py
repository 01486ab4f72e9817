"""Cut a block in two."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph
from depyf.decompiler.steps import step


def split_block(graph: Graph, block: Block, place: int) -> Block:
    """Move the operations from a place on, and the exit, to a new block.

    Values popped in the first part are no longer on the new block's stack.

    Args:
        graph: the graph, which gets the new block.
        block: the block to cut.
        place: the number of operations that stay in the block.

    Returns:
        the new block.
    """
    step("block {} is cut before its operation {}", block.index, place)
    popped = [temp for inst in block.insts[:place] if inst.op in ("POP", "POP_EXCEPT") for temp in inst.uses]
    stack = list(block.stack)
    stack += [temp for inst in block.insts[:place] if inst.op == "PUSH_EXC_INFO" for temp in inst.defs]
    for temp in popped:
        if temp in stack:
            stack.remove(temp)
    offset = block.insts[-1].offset if block.insts else block.offset
    rest = graph.new_block(block.insts[place:], block.exit, block.handler, stack, offset)
    block.insts = block.insts[:place]
    block.exit = Goto(Edge(rest.index, []))
    return rest
