"""Make the ends of a class body the same as those of other code.

Before: STORE_NAME __static_attributes__ ('a',); v1 = LOAD_CLOSURE __class__; STORE_NAME __classcell__ v1; return v1
After:  return None                             (at every end of the body)
"""

from __future__ import annotations

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.decompiler.graph.tac import Block, Graph, Inst, Return
from depyf.decompiler.steps import step

STATIC, FIRST_LINE = "__static_attributes__", "__firstlineno__"
"""The names that the compiler stores at the end, and at the beginning, of every class body (3.13)."""
CELLS = frozenset({"__classcell__", "__classdictcell__"})


def end_class(graph: Graph) -> None:
    """Remove the transfer of the `__class__` and namespace cells from a class body."""
    if graph.code.flags & CO_OPTIMIZED:
        return
    lists_attributes = {STATIC, FIRST_LINE} <= set(graph.code.names)
    for block in graph.live():
        if isinstance(block.exit, Return):
            _end(graph, block, block.exit)
            if lists_attributes:
                _drop_attributes(block)


def _end(graph: Graph, block: Block, exit_: Return) -> None:
    cells = {inst.defs[0] for inst in block.insts if inst.op == "LOAD_CLOSURE"}
    handed = {
        inst.uses[0]
        for inst in block.insts
        if inst.op == "STORE_NAME" and inst.arg in CELLS and inst.uses[0] in cells
    }
    for temp in sorted(handed):
        step("block {}: the transfer of cell v{} is not a statement", block.index, temp)
    if exit_.value in handed:
        none = graph.new_temp()
        block.insts.append(Inst("CONST", None, [], [none], None, -1))
        exit_.value = none
    block.insts = [
        inst
        for inst in block.insts
        if not (inst.op == "STORE_NAME" and inst.uses[0] in handed)
        and not (inst.op == "LOAD_CLOSURE" and inst.defs[0] in handed)
    ]


def _drop_attributes(block: Block) -> None:
    """Remove the list of attributes: the last one, because a program may store others under that name."""
    stores = [inst for inst in block.insts if inst.op == "STORE_NAME" and inst.arg == STATIC]
    listed = stores[-1].uses if stores else None
    definition = next((inst for inst in block.insts if inst.defs == listed), None)
    if definition is not None and definition.op == "CONST":
        step("block {}: the list of attributes is not a statement", block.index)
        block.insts = [inst for inst in block.insts if inst is not definition and inst is not stores[-1]]
