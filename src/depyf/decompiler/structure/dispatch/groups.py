"""Groups of exceptions that are parted and gathered where no `except*` statement does it.

Before: 5: v7 v8 = CHECK_EG_MATCH v2 v6; v9 = IS v8 v4; ...      7: POP v3; raise v9 again
After:  5: v7 v8 = SPLIT v2 v6; -> 6     6: v9 = IS v8 v4; ...   7: POP v3; -> 8    8: raise v9 again

What SPLIT matches is handled from there on, in the place of what was being handled. Whether an exception has passed
this frame once more can be seen when groups are gathered: what raises one again stands alone, so that what it adds to
the traceback can be undone where it is caught.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Graph, Reraise
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.split import split_block
from depyf.decompiler.structure.unstructured import Unstructured

OPERATIONS = {"CHECK_EG_MATCH": "SPLIT", "PREP_RERAISE_STAR": "GATHER"}
PARTED = 2
"""Values that the operation gives that parts a group; as the test of a clause it gives one."""


def check_groups(graph: Graph) -> None:
    """Raise Unstructured where a group of exceptions is parted or gathered outside of an `except*` statement."""
    for block in graph.live():
        for inst in block.insts:
            if inst.op == "PREP_RERAISE_STAR" or inst.op == "CHECK_EG_MATCH" and len(inst.defs) == PARTED:
                raise Unstructured("a group of exceptions is parted outside of `except*`")


def expand_groups(graph: Graph) -> bool:
    """Cut blocks behind what parts a group, and before what raises again where groups are gathered; tell whether."""
    gathers = False
    work = graph.live()
    while work:
        block = work.pop()
        for place, inst in enumerate(block.insts):
            if inst.op in OPERATIONS:
                step("block {} does {} by a call", block.index, inst.op)
                inst.op = OPERATIONS[inst.op]
                gathers |= inst.op == "GATHER"
                if inst.op == "SPLIT":
                    work.append(split_block(graph, block, place + 1))
                    break
    for block in graph.live() if gathers else ():
        if isinstance(block.exit, Reraise) and block.insts:
            split_block(graph, block, len(block.insts))
    return gathers


def splits(block: Block) -> bool:
    """Return whether a block ends by parting a group."""
    return bool(block.insts) and block.insts[-1].op == "SPLIT"


def is_raised_alone(block: Block) -> bool:
    """Return whether all that a block does is to raise an exception again."""
    return isinstance(block.exit, Reraise) and not block.insts
