"""END_ASYNC_FOR operations that end no loop.

Before: 5: END_ASYNC_FOR v1 exc; POP v3; -> 7
After:  5: v8 = CONST StopAsyncIteration; v9 = CHECK_EXC_MATCH exc v8; -> 10 if v9 else 11
        10: POP v3; -> 7     11: raise exc again
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Branch, Edge, Graph, Inst, Reraise
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.split import split_block

END = "END_ASYNC_FOR"


def expand_async_ends(graph: Graph, *, keep_handlers: bool) -> None:
    """Turn the operations that end asynchronous loops into tests.

    Args:
        keep_handlers: keep an operation at the start of a handler, for the handler's own exception.
    """
    handler_starts = {(handler.target, handler.exc) for handler in graph.handlers} if keep_handlers else set()
    work = graph.live()
    while work:
        block = work.pop()
        for place, inst in enumerate(block.insts):
            if inst.op == END and (place or (block.index, inst.uses[1]) not in handler_starts):
                work.append(_test(graph, block, place))
                break


def _test(graph: Graph, block: Block, place: int) -> Block:
    """Make a block end with the test; return the block after it."""
    end = block.insts[place]
    iterator, exc = end.uses
    step("block {} tests whether v{} is the end of v{}", block.index, exc, iterator)
    rest = split_block(graph, block, place)
    rest.insts = rest.insts[1:]
    rest.stack = [temp for temp in rest.stack if temp not in end.uses]
    again = graph.new_block([], Reraise(exc), block.handler, list(block.stack), end.offset)
    kind, truth = graph.new_temp(), graph.new_temp()
    block.insts += [
        Inst("CONST", StopAsyncIteration, [], [kind], end.line, end.offset),
        Inst("CHECK_EXC_MATCH", None, [exc, kind], [truth], end.line, end.offset),
    ]
    block.exit = Branch(truth, Edge(rest.index), Edge(again.index), end.line)
    return rest
