"""The test of a `while` loop that the compiler wrote twice: before the loop, and at its end.

Before: 0: if a -> 1, 9     1: if b -> 2, 9     2: g(); if x -> 9, 3     3: if b -> 2, 9
After:  the same, and blocks 1 and 3 have separate numbers: `a` and `x` are not part of the test `b`

Only blocks with one number are joined to a condition. So the two copies stay equal, and the loop gets its test back.
"""

from __future__ import annotations

from depyf.decompiler.graph.successors import predecessors
from depyf.decompiler.graph.tac import Block, Branch, Goto, Graph, Inst, operation_key, same_operation
from depyf.decompiler.structure.loops import retreating_edges
from depyf.decompiler.structure.regions.split import split_block

Key = tuple[object, ...]


def part_loop_tests(graph: Graph, nest: dict[int, tuple[int, ...]], scope: dict[int, int]) -> None:
    """Give the blocks of each copy of a loop's test separate numbers in `scope`, in place.

    The code before a test in its block is split off.

    Args:
        graph: the graph, in which blocks may be split.
        nest: by block, the markers around it; new blocks are added.
        scope: by block, the number of its scope; the copies get negative numbers.
    """
    ends: dict[int, list[int]] = {}
    for last, header in retreating_edges(graph):
        if isinstance(graph.block(last).exit, Branch):
            ends.setdefault(header, []).append(last)
    before = predecessors(graph) if ends else {}
    numbers: dict[tuple[int, int, int], int] = {}
    for header, pairs in [(header, _copies(graph, header, lasts, before)) for header, lasts in ends.items()]:
        if not (_is_whole(graph, list(pairs), before) and _is_whole(graph, list(pairs.values()), before)):
            continue
        for first_label, end_label in pairs.items():
            for number, label in enumerate((first_label, end_label)):
                place = _start(graph.block(label))
                rest = split_block(graph, graph.block(label), place).index if place else label
                nest[rest] = nest[label]
                key = header, number, scope[label]
                scope[rest] = numbers.setdefault(key, -1 - len(numbers))


def _copies(graph: Graph, header: int, lasts: list[int], before: dict[int, list[int]]) -> dict[int, int]:
    """Return the blocks of the test before a loop, each with its counterpart at the end of the loop.

    Args:
        lasts: the blocks that jump back to the header.
    """
    pairs: dict[int, int] = {}
    taken = set(lasts)
    work = [(header, header)]
    while work:
        first_label, end_label = work.pop()
        at_end = lasts if first_label == end_label else before[end_label]
        ends: dict[Key, list[Block]] = {}
        for block in sorted(map(graph.block, at_end), key=lambda block: -block.offset):
            ends.setdefault(_key(block, {}), []).append(block)
        for block in sorted(map(graph.block, before[first_label]), key=lambda block: block.offset):
            label = block.index
            alike = ends.get(_key(block, pairs)) if label not in pairs and label not in taken else None
            # A test may ask the same twice: copies have one order.
            counterpart = alike[-1] if alike else None
            if alike and counterpart is not None and counterpart.index not in pairs and _ends_alike(block, counterpart):
                alike.pop()
                pairs[label] = counterpart.index
                taken.add(counterpart.index)
                if not _start(block) and not _start(counterpart):
                    work.append((label, counterpart.index))
    return pairs


def _key(block: Block, pairs: dict[int, int]) -> Key:
    """Return the key that two copies of a block share: their targets, and their last operation."""
    last = block.insts[-1] if block.insts else None
    if last is None or not isinstance(block.exit, (Branch, Goto)):
        return (block.index,)
    goals = [pairs.get(edge.target, edge.target) for edge in block.exit.edges()]
    return type(block.exit), operation_key(last), last.line, *goals


def _start(block: Block) -> int:
    """Return where the operations begin that compute a block's test, or the value that it passes on."""
    defined = {temp for inst in block.insts for temp in inst.defs}
    needed = defined.intersection(block.exit.reads()).union(
        temp for edge in block.exit.edges() for temp in edge.args if temp in defined
    )
    place = len(block.insts) if needed else 0
    while needed:
        place -= 1
        inst = block.insts[place]
        needed.difference_update(inst.defs)
        needed.update(temp for temp in inst.uses if temp in defined)
    return place if any(inst.op != "POP" for inst in block.insts[:place]) else 0


def _test(block: Block) -> list[Inst]:
    """Return the operations that compute a block's test, without drops of earlier values."""
    return [inst for inst in block.insts[_start(block) :] if inst.op != "POP"]


def _is_whole(graph: Graph, labels: list[int], before: dict[int, list[int]]) -> bool:
    """Return whether blocks use only their own values, and leave none on the stack."""
    defined: set[int] = set()
    used: set[int] = set()
    for label in labels:
        block = graph.block(label)
        place = _start(block)
        if block.phis and (place or not set(before[label]).issubset(labels)):
            return False
        defined.update(block.phis)
        for inst in _test(block):
            defined.update(inst.defs)
            used.update(inst.uses)
        used.update(block.exit.reads())
    return used <= defined


def _ends_alike(first_block: Block, second_block: Block) -> bool:
    """Return whether two blocks test the same value."""
    first, second = _test(first_block), _test(second_block)
    return len(first) == len(second) and all(
        same_operation(left, right) and left.line == right.line for left, right in zip(first, second)
    )
