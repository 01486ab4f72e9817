"""Join the copies of one source place that follow each path to it.

Before: 3: v2 = C v1; Raise v2     5: v4 = C v3; Raise v4       After: 3: -> 6 (v1)     5: -> 6 (v3)
                                                                       6 (v5): v2 = C v5; Raise v2

If an expression has several paths, the compiler copies a short end of the code to each. Copies have the same source
locations, column for column.
"""

from __future__ import annotations

from collections.abc import Hashable

from depyf.bytecode.places import Place
from depyf.decompiler.graph.tac import (
    Block,
    Edge,
    Goto,
    Graph,
    Inst,
    Raise,
    Reraise,
    Return,
    is_second_half,
    operation_key,
)
from depyf.decompiler.graph.tails import DROPS, lead_to, makes
from depyf.decompiler.steps import step

Word = tuple[Hashable, Place | None]
"""An operation, and its location; None for any."""


def join_tails(graph: Graph, ends: list[Block], markers: set[int]) -> None:
    """Join the copies at the ends of blocks, and pass on the values in which they differ.

    Args:
        graph: the graph, changed in place.
        ends: the blocks whose ends may be copies.
        markers: temporaries that show the loops and handlers around a block.
    """
    groups: dict[Hashable, list[Block]] = {}
    for block in ends:
        key = _end(graph, block)
        if key is not None:
            dropped = {temp for inst in block.insts if inst.op in DROPS for temp in inst.uses}
            nest = tuple(temp for temp in block.stack if temp in markers and temp not in dropped)
            groups.setdefault((block.handler, nest, key), []).append(block)
    for group in groups.values():
        if len(group) > 1:
            _join_group(graph, group, markers)


def _end(graph: Graph, block: Block) -> Hashable:
    """Return a key for the exit of a block; None if its location is unknown."""
    exit_ = block.exit
    if isinstance(exit_, Goto):
        return exit_.edge.target, len(exit_.edge.args)
    if isinstance(exit_, Reraise):
        return Reraise, exit_.exc
    assert isinstance(exit_, (Return, Raise))
    place = graph.place(exit_.offset)
    return None if place is None else (type(exit_), len(exit_.reads()), place)


def _word(graph: Graph, block: Block, length: int) -> Word | None:
    """Return the operation before the last `length` operations of a block, and its location; None if unknown."""
    number = len(block.insts) - 1 - length
    if number < 0:
        return None
    inst = block.insts[number]
    place = graph.place(inst.offset)
    shape = operation_key(inst), len(inst.uses), len(inst.defs)
    if is_second_half(block.insts, number):  # A load has the location of its use, which is compared.
        return (shape, None) if inst.defs else None
    return None if place is None else (shape, place)


def _alike(graph: Graph, blocks: list[Block], length: int) -> list[list[Block]]:
    """Return blocks grouped by the operation before the last `length` operations.

    An operation without a location joins one that has a location, because the operation that uses both is the same.
    """
    words: dict[Word, list[Block]] = {}
    for block in blocks:
        word = _word(graph, block, length)
        if word is not None:
            words.setdefault(word, []).append(block)
    for shape in [shape for shape, place in words if place is None]:
        anywhere = words.pop((shape, None))
        first = next((other for other in words if other[0] == shape), (shape, None))
        words.setdefault(first, []).extend(anywhere)
    return [group for group in words.values() if len(group) > 1]


def _join_group(graph: Graph, group: list[Block], markers: set[int]) -> None:
    """Join blocks as far as they are alike; those with longer common ends first."""
    levels: list[tuple[list[Block], int]] = [(group, 0)]
    for blocks, length in levels:  # The list grows during the iteration.
        levels += [(alike, length + 1) for alike in _alike(graph, blocks, length)]
    joined: dict[int, Block] = {}
    for blocks, length in reversed(levels):
        left = list({id(last): last for last in (_last(joined, block) for block in blocks)}.values())
        # The drop of a value has no location; earlier joins have left it out.
        while length and (length > len(left[0].insts) or left[0].insts[-length].op in DROPS):
            length -= 1
        if len(left) > 1 and (length or isinstance(left[0].exit, Raise)):
            shared = _share(graph, left, length, markers)
            joined.update({block.index: shared for block in left if shared is not None})


def _last(joined: dict[int, Block], block: Block) -> Block:
    while block.index in joined:
        block = joined[block.index]
    return block


def _share(graph: Graph, group: list[Block], length: int, markers: set[int]) -> Block | None:
    """Make blocks share their last operations; return the block that has them.

    None if no block makes a value in which they differ: then they are parts of several statements. None also if they
    return different values that they only carry: then they are copies of a `finally` body, at the returns inside it.
    """
    tails = [block.insts[len(block.insts) - length :] for block in group]
    defined = {temp for inst in tails[0] for temp in inst.defs}
    phis: dict[tuple[int, ...], int] = {}

    def use(temps: tuple[int, ...]) -> int:
        if temps[0] in defined or len(set(temps)) == 1:
            return temps[0]
        return phis.setdefault(temps, graph.new_temp())

    first = group[0]
    insts = [
        Inst(inst[0].op, inst[0].arg, [use(temps) for temps in zip(*(copy.uses for copy in inst))], inst[0].defs,
             inst[0].line, _offset(group, number - length, inst))
        for number, inst in enumerate(zip(*tails))
    ]
    operands = [use(temps) for temps in zip(*map(_operands, group))]
    if not all(any(map(makes, group, temps)) for temps in phis):
        return None
    if isinstance(first.exit, (Goto, Return)) and not set(operands).isdisjoint(phis.values()):
        return None
    step("blocks {} have one end", [block.index for block in group])
    exit_ = first.exit
    assert isinstance(exit_, (Goto, Raise, Reraise, Return))
    if isinstance(exit_, Reraise):
        exit_ = Reraise(exit_.exc)
    elif isinstance(exit_, Raise):
        exit_ = Raise(operands, exit_.line, None, exit_.offset)
    elif isinstance(exit_, Return):
        exit_ = Return(exit_.value, exit_.line, None, exit_.offset)
    else:
        exit_ = Goto(Edge(exit_.edge.target, operands))
    shared = graph.new_block(insts, exit_, first.handler, [temp for temp in first.stack if temp in markers])
    shared.phis = list(phis.values())
    for number, block in enumerate(group):
        lead_to(block, len(block.insts) - length, shared, [temps[number] for temps in phis])
    return shared


def _operands(block: Block) -> list[int]:
    """Return the values that the exit of a block uses or hands over."""
    return block.exit.edge.args if isinstance(block.exit, Goto) else block.exit.reads()


def _offset(group: list[Block], number: int, copies: tuple[Inst, ...]) -> int:
    """Return the offset of a copy with a place of its own, -1 if none has one."""
    places = ((block.insts, len(block.insts) + number) for block in group)
    return next((copy.offset for copy, place in zip(copies, places) if not is_second_half(*place)), -1)
