"""Cut blocks where control leaves a loop or a handler, and find the nesting of each block.

The interpreter keeps the surroundings of the code on the stack: the iterator of each `for` loop, and in each handler
the previous exception being handled. These *markers* show the nesting of a block. A block that pops a marker is cut
after it, unless it only returns.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import NULL, Block, Edge, ForIter, Goto, Graph, Reraise, Return
from depyf.decompiler.steps import step
from depyf.decompiler.structure.loops import loop_headers
from depyf.decompiler.structure.regions.split import split_block


def find_markers(graph: Graph) -> set[int]:
    """Return the temporaries of iterators and of previous exceptions being handled."""
    markers: set[int] = set()
    for block in graph.live():
        if isinstance(block.exit, ForIter):
            markers.add(block.exit.iterator)
        if graph.handlers:
            markers.update(temp for inst in block.insts if inst.op == "PUSH_EXC_INFO" for temp in inst.defs)
    return markers


def join_ends(graph: Graph) -> None:
    """Redirect every `return None` to one common block; a lambda keeps its own, as part of its expression.

    If code is in the order of the source, only the last one is the end of the code, and the others are statements.
    """
    if graph.code.name == "<lambda>":
        return
    step("an empty block is the end of the code")
    end = graph.new_block([], Return(NULL), -1, [], max(block.offset for block in graph.live()))
    graph.end = end.index
    returns = [block for block in graph.live() if block is not end and isinstance(block.exit, Return)]
    if graph.source_order:
        returns = [block for block in returns if _ends_code(graph, block)]
    for block in returns:
        _return_none(block, end)


def _ends_code(graph: Graph, block: Block) -> bool:
    """Return whether there is no code after the end of a block."""
    assert isinstance(block.exit, Return)
    return block.exit.offset + 2 >= len(graph.code.bytecode)


def cut(graph: Graph, markers: set[int]) -> None:
    """Cut blocks after popped markers, and before a `for` that begins an outer loop and is not itself restarted."""
    _cut_headers(graph)
    work = graph.live() if markers else []
    while work:
        block = work.pop()
        for place, inst in enumerate(block.insts):
            if inst.op in ("POP", "POP_EXCEPT") and inst.uses[0] in markers:
                if not _only_returns(graph, block, place + 1):
                    work.append(split_block(graph, block, place + 1))
                    break
    _merge_reraises(graph)


def _cut_headers(graph: Graph) -> None:
    """Give each `for` its own block if the start of its iterable may begin an outer loop.

    An iterable with a short circuit has several blocks, which become one with the `for`.
    """
    heads = [block for block in graph.live() if isinstance(block.exit, ForIter) and block.insts]
    loops = map(graph.block, loop_headers(graph) if heads else ())
    if all(isinstance(block.exit, ForIter) and not block.insts for block in loops):
        return
    for block in heads:
        assert isinstance(block.exit, ForIter)
        iterator = block.exit.iterator
        split_block(graph, block, len(block.insts)).stack.append(iterator)


def _merge_reraises(graph: Graph) -> None:
    """Redirect all implicit ends of handlers to one block."""
    ends: dict[int, Block] = {}
    handled = {handler.exc for handler in graph.handlers}
    for block in graph.live():
        if isinstance(block.exit, Reraise) and block.exit.exc in handled:
            exc = block.exit.exc
            if exc not in ends:
                ends[exc] = split_block(graph, block, len(block.insts))
            else:
                step("block {} re-raises v{} in block {}", block.index, exc, ends[exc].index)
                block.exit = Goto(Edge(ends[exc].index, []))


def _only_returns(graph: Graph, block: Block, place: int) -> bool:
    returns = isinstance(block.exit, Return) or (isinstance(block.exit, Goto) and block.exit.edge.target == graph.end)
    return returns and all(
        inst.op in ("POP", "POP_EXCEPT", "CONST", "MOVE") for inst in block.insts[place:]
    )


def _return_none(block: Block, end: Block) -> None:
    """Replace `return None` by a jump to the common end."""
    if not isinstance(block.exit, Return):
        return
    for place in range(len(block.insts) - 1, -1, -1):
        inst = block.insts[place]
        if inst.op == "CONST" and inst.defs[0] == block.exit.value:
            if inst.arg is None:
                step("block {} returns None: redirect it to the end", block.index)
                del block.insts[place]
                block.exit = Goto(Edge(end.index, []))
            return
        if inst.op not in ("POP", "POP_EXCEPT", "CONST", "MOVE"):
            return


def nests(graph: Graph, markers: set[int]) -> dict[int, tuple[int, ...]]:
    """Return for each block the markers on its stack, the outermost first.

    The first block of a handler counts as inside it.
    """
    if not markers:
        return {block.index: () for block in graph.live()}
    by_block = {}
    for block in graph.live():
        inside = [temp for temp in block.stack if temp in markers]
        if block.insts and block.insts[0].op == "PUSH_EXC_INFO":
            inside.extend(block.insts[0].defs)
        by_block[block.index] = tuple(inside)
    return by_block


def scopes(graph: Graph, nest: dict[int, tuple[int, ...]], finallys: set[int]) -> dict[int, int]:
    """Return a number for each block, equal for blocks with the same nesting and protection.

    Args:
        graph: the graph.
        nest: the markers around each block.
        finallys: the handlers of `finally` bodies; the end of one stays a separate place, which `break` may lead to.
    """
    numbers: dict[tuple[int, tuple[int, ...], int], int] = {}
    finals = {graph.handlers[handler].exc for handler in finallys}
    by_block: dict[int, int] = {}
    for block in graph.live():
        is_end = isinstance(block.exit, Reraise) and block.exit.exc in finals
        key = (block.handler, nest[block.index], block.index if is_end else -1)
        by_block[block.index] = numbers.setdefault(key, len(numbers))
    return by_block
