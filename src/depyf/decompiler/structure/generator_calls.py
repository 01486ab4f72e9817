"""Calls of a builtin on a generator that the compiler inlines, guarded by a test of the name (3.14).

Before: v1 = LOAD_GLOBAL any; v2 = LOAD_COMMON any; v3 = IS v1 v2; Branch v3 -> 1, 2
        1: a loop over the generator, with `any` written out     2: v4 = <generator>; v5 = CALL v1 v4; -> 3 (v5)
After:  v1 = LOAD_GLOBAL any; v4 = <generator>; v5 = CALL v1 v4; -> 3 (v5)
"""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Branch, Goto, Graph
from depyf.decompiler.lift.phis import rename
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import prune


def restore_generator_calls(graph: Graph) -> None:
    """Remove the loops for inlined calls of builtins, inner ones first; the calls are beside them."""
    restored = [graph.block(index) for index in postorder(graph) if _restore(graph, graph.block(index))]
    if not restored:
        return
    prune(graph)
    _join(graph, restored)


def _restore(graph: Graph, block: Block) -> bool:
    """Redirect a block that tests whether a callee is a builtin to the call."""
    test = block.insts[-1] if block.insts else None
    if not isinstance(block.exit, Branch) or test is None or test.op != "IS" or test.defs != [block.exit.cond]:
        return False
    builtin = next((inst for inst in block.insts if inst.defs == test.uses[1:]), None)
    if builtin is None or builtin.op != "LOAD_COMMON":
        return False
    if not _makes_generator(graph.block(block.exit.if_true.target)):
        return False
    step("block {}: call `{}` on a generator, and remove the inlined loop", block.index, builtin.arg)
    block.insts = [inst for inst in block.insts if inst is not test and inst is not builtin]
    block.exit = Goto(block.exit.if_false)
    return True


def _makes_generator(block: Block) -> bool:
    """Return whether a block begins the inlined code for a call on a generator: it first makes the function."""
    codes = (inst.arg for inst in block.insts if inst.op == "CONST")
    return any(isinstance(code, Code) and code.name == "<genexpr>" for code in codes)


# -- blocks that have become one -------------------------------------------------------------


def _join(graph: Graph, restored: list[Block]) -> None:
    """Append to these blocks their only successors."""
    entries: dict[int, int] = {}
    for block in graph.live():
        for edge in block.exit.edges():
            entries[edge.target] = entries.get(edge.target, 0) + 1
    for handler in graph.handlers:
        entries[handler.target] = 2
    values: dict[int, int] = {}
    for block in restored:
        if graph.blocks[block.index] is not block:
            continue
        while isinstance(block.exit, Goto) and entries[block.exit.edge.target] == 1:
            edge = block.exit.edge
            following = graph.block(edge.target)
            if following.handler != block.handler or following is block:
                break
            values.update(zip(following.phis, edge.args, strict=True))
            block.insts.extend(following.insts)
            block.exit = following.exit
            graph.blocks[following.index] = None
    rename(graph, values)
