"""Split and gather exception groups outside an `except*` statement.

Before: 5: v7 v8 = CHECK_EG_MATCH v2 v6; v9 = IS v8 v4; ...      7: POP v3; raise v9 again
After:  5: v7 v8 = SPLIT v2 v6; -> 6     6: v9 = IS v8 v4; ...   7: POP v3; -> 8    8: raise v9 again

The match of SPLIT becomes the exception being handled. Gathering groups reveals whether an exception has passed this
frame again. So each re-raise is a separate block, and its traceback entry can be removed where it is caught.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Graph, Reraise
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.split import split_block
from depyf.decompiler.structure.unstructured import Unstructured

OPERATIONS = {"CHECK_EG_MATCH": "SPLIT", "PREP_RERAISE_STAR": "GATHER"}
PARTED = 2
"""The number of results of the operation that splits a group; as the test of a clause it has one."""


def check_groups(graph: Graph) -> None:
    """Raise Unstructured if an exception group is split or gathered outside an `except*` statement."""
    for block in graph.live():
        for inst in block.insts:
            if inst.op == "PREP_RERAISE_STAR" or inst.op == "CHECK_EG_MATCH" and len(inst.defs) == PARTED:
                raise Unstructured("an exception group is split outside `except*`")


def expand_groups(graph: Graph) -> bool:
    """Cut blocks after each split of a group, and before re-raises if groups are gathered; return whether it did."""
    gathers = False
    work = graph.live()
    while work:
        block = work.pop()
        for place, inst in enumerate(block.insts):
            if inst.op in OPERATIONS:
                step("block {} performs {} with a call", block.index, inst.op)
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
    """Return whether a block ends by splitting a group."""
    return bool(block.insts) and block.insts[-1].op == "SPLIT"


def is_raised_alone(block: Block) -> bool:
    """Return whether a block only re-raises an exception."""
    return isinstance(block.exit, Reraise) and not block.insts
