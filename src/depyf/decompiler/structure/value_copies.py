"""Join the copies of the code after an expression with several ways, whose value that code uses.

Before: 0: Branch v0 -> 4 (v0), 1    1: Branch v2 -> 2, 3    2: v3 = c; return v3    3: -> 4 (v4)    4 (v1): return v1
After:  0: Branch v0 -> 4 (v0), 1    1: Branch v2 -> 2, 3    2: v3 = c -> 4 (v3)     3: -> 4 (v4)    4 (v1): return v1

Before: 0: Branch v0 -> 1, 2         1: v1 = x; return v1    2: POP v9; return v0
After:  0: Branch v0 -> 1, 2         1: v1 = x -> 3 (v1)     2: POP v9 -> 3 (v0)     3 (v2): return v2

The compiler copies a short end of the code to the jumps that lead to it. A short circuit or a chain of comparisons
keeps the tested value on one path. All code on the other path, up to the end of the statement, computes another value.
"""

from __future__ import annotations

from dataclasses import replace

from depyf.bytecode.places import Place
from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.successors import predecessors
from depyf.decompiler.graph.tac import Block, Branch, Edge, ForIter, Goto, Graph, Raise, Return
from depyf.decompiler.graph.tails import lead_to, makes
from depyf.decompiler.steps import step
from depyf.decompiler.structure.copied_ends import Copies
from depyf.decompiler.structure.dropped import kept_tests
from depyf.decompiler.structure.regions.split import split_block
from depyf.decompiler.structure.regions.table import prune

MOST = 256
"""The most blocks of one operand."""


def join_value_copies(graph: Graph, kept: set[int] | None = None) -> None:
    """Lead the ends of both paths of each test whose value is kept to one end, with the value as a phi.

    Args:
        kept: the tested values that anything but their test uses, if they are known.
    """
    kept = kept_tests(graph) if kept is None else kept
    before = predecessors(graph)
    has_joined = False
    for index in postorder(graph):
        exit_ = graph.block(index).exit
        if isinstance(exit_, Branch) and exit_.cond in kept:
            has_joined |= _join(graph, exit_.cond, exit_.if_true, exit_.if_false, before)
            has_joined |= _join(graph, exit_.cond, exit_.if_false, exit_.if_true, before)
    if has_joined:
        prune(graph)


def _join(graph: Graph, value: int, way: Edge, other: Edge, before: dict[int, list[int]]) -> bool:
    """Join the ends after `other` that are copies of the code after `way`, which uses the tested value."""
    end = graph.block(way.target)
    free = end.phis[0] if way.args else value
    starts = _starts(graph, end, way, value, before)
    blocks = operand(graph, other, end) if starts else []
    for place in starts:
        copies = copies_of((end, place, free), blocks, graph)
        if copies:
            shared = end if way.args else cut_before(graph, end, place, value, before)
            join_at(graph, shared, copies, before)
            return True
    return False


def join_at(graph: Graph, shared: Block, copies: list[tuple[Block, int, int]], before: dict[int, list[int]]) -> None:
    """Redirect the copies of an end to one block.

    Args:
        graph: the graph, changed in place.
        shared: the block that stays; it has a phi for the value.
        copies: blocks with the place where the end begins, and the value that they pass on.
        before: by block, its predecessors; updated.
    """
    for block, start, value in _distinct(graph, copies, before):
        step("block {} ends as block {} does, with its own value", block.index, shared.index)
        lead_to(block, start, shared, [value])
        before[shared.index] = [*before[shared.index], block.index]
    for index in list(before[shared.index]):
        _lead_past(graph, graph.block(index), before)


def _distinct(
    graph: Graph, copies: list[tuple[Block, int, int]], before: dict[int, list[int]]
) -> list[tuple[Block, int, int]]:
    """Return copies of an end without those in blocks that are one block of the source, copied as a whole.

    The edges to such a block are led to the first one.
    """
    ones: dict[tuple[Place | None, ...], Block] = {}
    left = []
    for copy in copies:
        block = copy[0]
        places = tuple(graph.place(inst.offset) for inst in block.insts)
        first = block if None in places or block.phis else ones.setdefault(places, block)
        if first is block or not before[block.index] or not Copies(graph).same(first, 0, block, 0):
            left.append(copy)
            continue
        step("block {} is a copy of block {}", block.index, first.index)
        for source in map(graph.block, before[block.index]):
            for edge in source.exit.edges():
                edge.target = first.index if edge.target == block.index else edge.target
        before[first.index] = [*before[first.index], *before[block.index]]
        before[block.index] = []
    return left


def _lead_past(graph: Graph, block: Block, before: dict[int, list[int]]) -> None:
    """Lead the edges to a block past it if it only passes values on to a merge."""
    sources = [graph.block(index) for index in before[block.index]]
    if block.insts or not isinstance(block.exit, Goto) or any(isinstance(source.exit, ForIter) for source in sources):
        return
    onward = block.exit.edge
    for edge in [edge for source in sources for edge in source.exit.edges() if edge.target == block.index]:
        passed = dict(zip(block.phis, edge.args))
        edge.target, edge.args = onward.target, [passed.get(temp, temp) for temp in onward.args]
    before[onward.target] = [index for index in before[onward.target] if index != block.index] + before[block.index]
    before[block.index] = []


def _hands_over(end: Block) -> bool:
    """Return whether a block passes values to a merge: the ends of both paths are one already."""
    return isinstance(end.exit, Goto) and bool(end.exit.edge.args)


def _starts(graph: Graph, end: Block, way: Edge, value: int, before: dict[int, list[int]]) -> range:
    """Return where the end of a statement may begin: after some drops of a chain; nowhere without the tested value."""
    if _hands_over(end):
        return range(0)
    if way.args:
        return range(way.args == [value] and not _only_tests(graph, end, before))
    if len(before[end.index]) > 1 or end.phis:
        return range(0)
    place = 0
    while place < len(end.insts) and end.insts[place].op == "POP" and end.insts[place].uses != [value]:
        place += 1
    return range(place + 1)


def _only_tests(graph: Graph, end: Block, before: dict[int, list[int]]) -> bool:
    """Return whether a merge drops values of tests alone: they may be the test of an `if`, no expression statement.

    A drop that has a location is compared by it.
    """
    drop = end.insts[0] if end.insts else None
    if drop is None or drop.op != "POP" or drop.uses != end.phis or graph.place(drop.offset) is not None:
        return False
    return all(isinstance(graph.block(index).exit, Branch) for index in before[end.index])


def operand(graph: Graph, edge: Edge, end: Block) -> list[Block]:
    """Return the blocks that an edge reaches before the end of the statement; none if there are many.

    Args:
        graph: the graph of the blocks.
        edge: the edge from the test.
        end: the block in which the statement ends.
    """
    blocks: list[Block] = []
    seen = {end.index}
    work = [edge.target]
    while work:
        index = work.pop()
        if index not in seen:
            seen.add(index)
            blocks.append(graph.block(index))
            work += [onward.target for onward in blocks[-1].exit.edges()]
            if len(blocks) > MOST:
                return []
    return blocks


def copies_of(end: tuple[Block, int, int], blocks: list[Block], graph: Graph) -> list[tuple[Block, int, int]]:
    """Return the blocks that end with a copy of another block's end.

    Args:
        end: a block, a place in it, and the value that may differ.
        blocks: the blocks to search.
        graph: the graph of the blocks.

    Returns:
        blocks with the place where the copy begins, and its value, which one of `blocks` makes.
    """
    first, place, free = end
    ends = []
    for block in blocks:
        start = len(block.insts) - len(first.insts) + place
        if start >= 0 and first.handler == block.handler:
            copies = Copies(graph, free)
            value = copies.renamed.get(free) if copies.same(first, place, block, start) else None
            if value is not None and value != free and not any(value in inst.defs for inst in block.insts[start:]):
                ends.append((block, start, value))
    return [copy for copy in ends if any(makes(block, copy[2]) for block in blocks)]


def cut_before(graph: Graph, end: Block, place: int, value: int, before: dict[int, list[int]]) -> Block:
    """Cut a block before the end of a statement.

    Args:
        graph: the graph, changed in place.
        end: the block with the end of the statement.
        place: the number of operations before that end.
        value: the tested value, which becomes a phi of the new block.
        before: by block, its predecessors; updated.

    Returns:
        the new block, with the end of the statement.
    """
    shared = split_block(graph, end, place)
    phi = graph.new_temp()
    shared.phis = [phi]
    shared.stack = [*(temp for temp in shared.stack if temp != value), phi]
    end.exit = Goto(Edge(shared.index, [value]))
    before[shared.index] = [end.index]
    blocks = [shared]
    for target in {edge.target for edge in shared.exit.edges()}:
        before[target] = [shared.index if index == end.index else index for index in before[target]]
        if before[target] == [shared.index]:
            blocks.append(graph.block(target))
    for block in blocks:
        _rename(block, value, phi)
    return shared


def _rename(block: Block, old: int, new: int) -> None:
    """Replace a value in a block."""
    block.stack = [new if temp == old else temp for temp in block.stack]
    block.insts = [replace(inst, uses=[new if temp == old else temp for temp in inst.uses]) for inst in block.insts]
    match block.exit:
        case Return(value) if value == old:
            block.exit = replace(block.exit, value=new)
        case Raise(operands):
            block.exit = replace(block.exit, operands=[new if temp == old else temp for temp in operands])
