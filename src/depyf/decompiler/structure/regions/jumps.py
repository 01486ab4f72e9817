"""Extend protection to unprotected code that cannot raise between protected blocks.

Before: blocks 2 and 5 are protected; 2 -> 3 -> 5, where block 3 only jumps, and is not protected
After:  block 3 is protected too

Before: block 2 is protected and makes v1; 2 -> 3: v2 = v1 is None; Branch v2 -> 4, 5     (not protected)
After:  block 3 is protected too: the value is on the stack for it, so it is part of the same statement

The compiler excludes code that cannot raise from a protected range; since 3.14 also the first test of `(a or b) or c`.
"""

from __future__ import annotations

from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.graph.tac import Block, Branch, Goto, Graph
from depyf.decompiler.lift.guarded import is_kept
from depyf.decompiler.structure.regions.table import Regions, skip_empty

NEVER_RAISE = frozenset({"CONST", "IS", "POP"})
BOOLS = frozenset({"IS", "CONTAINS", "TO_BOOL", "CHECK_EXC_MATCH"})


def protect_jumps(regions: Regions) -> None:
    """Give a block that cannot raise the handler of the blocks around it, if it is inside the same statement."""
    graph = regions.graph
    before: dict[int, set[int]] = {}
    for block in graph.live():
        for edge in block.exit.edges():
            before.setdefault(edge.target, set()).add(block.index)
    makers = {temp: block for block in graph.live() for temp in block.phis}
    makers.update((temp, block) for block in graph.live() for inst in block.insts for temp in inst.defs)
    is_loose = facts_of(graph.code.version, str(graph.code)).loose_tests
    for block in graph.live():
        if block.index not in before:
            continue
        around = {graph.block(index).handler for index in before[block.index]}
        if not block.insts and isinstance(block.exit, Goto):
            behind = skip_empty(graph, block.exit.edge.target).handler
            shared = [handler for handler in regions.chain(behind) if all(handler in regions.chain(a) for a in around)]
            if shared and block.handler not in shared and block.handler not in around:
                block.handler = shared[0]
                regions.ways.note(block)
        elif len(around) == 1 and (_tests_value(block, makers) or (is_loose and _is_loose_test(graph, block))):
            _let_in(regions, block, around.pop())


def _let_in(regions: Regions, block: Block, handler: int) -> None:
    """Give a test the handler of the blocks around it, if its own one is further out."""
    if block.handler in regions.chain(handler)[1:] or block.handler < 0:
        block.handler = handler
        regions.ways.note(block)


def _tests_value(block: Block, makers: dict[int, Block]) -> bool:
    """Return whether a block only tests a value from an earlier block, which cannot raise."""
    if not isinstance(block.exit, Branch) or not all(inst.op in NEVER_RAISE for inst in block.insts):
        return False
    cond = block.exit.cond
    compared = [temp for inst in block.insts if inst.op == "IS" and cond in inst.defs for temp in inst.uses]
    if not compared and not _makes_bool(makers.get(cond), cond):
        return False
    made_here = {temp for inst in block.insts for temp in inst.defs}
    return any(temp in makers and temp not in made_here for temp in compared or [cond])


def _is_loose_test(graph: Graph, block: Block) -> bool:
    """Return whether a block only tests a value that one path uses, and one path is protected."""
    if not isinstance(block.exit, Branch) or any(inst.op != "UNGUARDED" for inst in block.insts):
        return False
    ways = block.exit.edges()
    return is_kept(graph, block.exit) and any(graph.block(edge.target).handler >= 0 for edge in ways)


def _makes_bool(block: Block | None, temp: int) -> bool:
    """Return whether a value made in a block is `True` or `False`."""
    makers = [inst for inst in block.insts if temp in inst.defs] if block is not None else []
    return any(inst.op in BOOLS or (inst.op == "UNARY" and inst.arg == "not") for inst in makers)
