"""Copies of the body of a case, one for each alternative (3.12).

Before: 1: v1 = v0 == 'a'; Branch v1 -> 3, 2     2: v2 = v0 == 'b'; Branch v2 -> 4, 5     3: POP v0; b     4: POP v0; b
After:  1: v1 = v0 == 'a'; Branch v1 -> 3, 2     2: v2 = v0 == 'b'; Branch v2 -> 3, 5     3: POP v0; b

The subject of alternatives is below them on the stack: each test takes a copy, and the subject is dropped when the last
has failed. That distinguishes them from two cases with the same body.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Branch, Goto, Graph, Inst, same_operation
from depyf.decompiler.structure.regions.table import prune


def join_copied_bodies(graph: Graph) -> None:
    """Redirect all alternatives to one body."""
    tests = {block.index: block.exit for block in graph.live() if _test(block) is not None}
    if not any(isinstance(exit_, Branch) and exit_.if_false.target in tests for exit_ in tests.values()):
        return
    for index in postorder(graph):
        block = graph.block(index)
        first = _test(block)
        if first is None or not isinstance(block.exit, Branch):
            continue
        other = graph.block(block.exit.if_false.target)
        second = _test(other)
        if second is None or not isinstance(other.exit, Branch) or second.uses[0] != first.uses[0]:
            continue
        first_body, second_body = graph.block(block.exit.if_true.target), graph.block(other.exit.if_true.target)
        are_copies = drops(first_body, second_body) and same_bodies(first_body, second_body)
        if are_copies and _is_alternative(graph, other, first.uses[0]):
            block.exit.if_true = other.exit.if_true
    prune(graph)


def _is_alternative(graph: Graph, block: Block, subject: int) -> bool:
    """Return whether a test is for a later alternative, not for a separate case."""
    assert isinstance(block.exit, Branch)
    before = depth(block, subject)
    waiting = graph.waiting.get(block.exit.cond, []).count(subject)
    return waiting == before and depth(graph.blocks[block.exit.if_false.target], subject) < before


def depth(block: Block | None, subject: int) -> int:
    """Return how many copies of a subject are on the stack at the start of a block, without those that it drops."""
    if block is None:
        return 0
    return block.stack.count(subject) - sum(inst.op == "POP" and inst.uses == [subject] for inst in block.insts)


def _test(block: Block) -> Inst | None:
    """Return the comparison with a value if a block does nothing else, apart from the subject."""
    if not isinstance(block.exit, Branch) or not block.insts:
        return None
    last = block.insts[-1]
    return last if last.op == "COMPARE" and last.arg == "==" and last.defs == [block.exit.cond] else None


def drops(left: Block, right: Block) -> bool:
    """Return whether one of two blocks drops a value, as the body of a case drops the subject."""
    return any(inst.op == "POP" for inst in (*left.insts, *right.insts))


def same_bodies(first_block: Block, second_block: Block) -> bool:
    """Return whether two blocks do the same, except for dropped values."""
    if first_block.phis or second_block.phis:
        return False
    values = paired(first_block, second_block)
    return values is not None and all(left == right for left, right in values.items())


def same_ways_on(graph: Graph, left: Block, right: Block) -> bool:
    """Return whether two blocks and their successors do the same, except for dropped values.

    Args:
        graph: the graph of the blocks.
        left: the first block.
        right: the second block.
    """
    seen: set[int] = set()
    while not same_bodies(left, right):
        if not isinstance(left.exit, Goto) or not isinstance(right.exit, Goto) or left.index in seen:
            return False
        seen.add(left.index)
        ways = left.exit.edge, right.exit.edge
        if ways[0].args or ways[1].args or not same_bodies(replace(left, exit=right.exit), right):
            return False
        left, right = (graph.block(way.target) for way in ways)
    return True


def paired(first_block: Block, second_block: Block, apart: AbstractSet[int] = frozenset()) -> dict[int, int] | None:
    """Return the earlier values that a block uses, each with its counterpart in an equal block.

    Args:
        first_block: the block.
        second_block: the block that may be equal; drops of values are not compared.
        apart: identities of operations that are not compared.

    Returns:
        by temporary of `first_block`, that of `second_block`; None if the blocks differ.
    """
    pair = (first_block, second_block)
    first, second = ([inst for inst in block.insts if inst.op != "POP" and id(inst) not in apart] for block in pair)
    if len(first) != len(second) or type(first_block.exit) is not type(second_block.exit):
        return None
    if first_block.handler != second_block.handler:
        return None
    renamed: dict[int, int] = {}
    values: dict[int, int] = {}
    for left, right in zip(first, second):
        if not same_operation(left, right) or len(left.uses) != len(right.uses):
            return None
        uses = list(zip(left.uses, right.uses))
        if any((renamed if use in renamed else values).setdefault(use, other) != other for use, other in uses):
            return None
        renamed.update(zip(left.defs, right.defs))
    uses = list(zip(first_block.exit.reads(), second_block.exit.reads()))
    if any((renamed if use in renamed else values).setdefault(use, other) != other for use, other in uses):
        return None
    ways, others = ([(edge.target, edge.args) for edge in block.exit.edges()] for block in pair)
    return values if ways == others else None
