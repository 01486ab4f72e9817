"""`async for`.

Before: 1: v2 = GET_ANEXT v1; v3 = CONST None; v4 = YIELD_FROM v2 v3; -> 2   (protected by handler 5)
        5: END_ASYNC_FOR v1 exc; ...
After:  1: for the next v4 of v1: -> 2; done: -> 6     6: ...
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Edge, ForIter, Goto, Graph
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import prune
from depyf.decompiler.structure.regions.ways import Ways

NEXT = ["GET_ANEXT", "CONST", "YIELD_FROM"]
STORES = frozenset({"STORE_FAST", "STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "UNPACK_SEQUENCE"})
"""The operations that bind a target: 3.7 protects them too."""


def restore_async_for(graph: Graph) -> None:
    """Give the blocks that await the next value the form of plain `for` loops."""
    ways: Ways | None = None
    for number, handler in enumerate(graph.handlers):
        end = graph.blocks[handler.target]
        if end is None or not end.insts or end.insts[0].op != "END_ASYNC_FOR":
            continue
        ways = Ways(graph) if ways is None else ways
        awaiting = [graph.block(index) for index in sorted(ways.protected(number))]
        if all(_awaits(block, end.insts[0].uses[0]) for block in awaiting):
            for block in _rewrite(graph, awaiting, end):
                ways.note(block)
    if ways is not None:
        prune(graph)


def _awaits(block: Block, iterator: int) -> bool:
    """Return whether a block only awaits the next value of an iterator, and binds the target to it."""
    ops = [inst.op for inst in block.insts]
    if ops[: len(NEXT)] != NEXT or not STORES.issuperset(ops[len(NEXT) :]) or not isinstance(block.exit, Goto):
        return False
    return block.insts[0].uses == [iterator]


def _rewrite(graph: Graph, awaiting: list[Block], end: Block) -> list[Block]:
    """Give the blocks the new form; return all new or changed blocks."""
    iterator = end.insts[0].uses[0]
    done = graph.new_block(end.insts[1:], end.exit, end.handler, end.stack[:-2])
    changed = [done, *awaiting]
    for block in awaiting:
        assert isinstance(block.exit, Goto)
        step("block {} awaits the next value of v{}: `async for`", block.index, iterator)
        (value,) = block.insts[len(NEXT) - 1].defs
        line = block.insts[0].line
        body = block.exit.edge
        stores = block.insts[len(NEXT) :]
        if stores:
            binding = graph.new_block(stores, Goto(body), end.handler, [*block.stack, value])
            changed.append(binding)
            body = Edge(binding.index)
        block.exit = ForIter(iterator, value, body, Edge(done.index), line, is_async=True)
        block.insts = []
        block.handler = end.handler
    return changed
