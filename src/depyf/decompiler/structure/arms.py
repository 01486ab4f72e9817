"""The arms of a test: blocks that consist of one expression, and comparisons of their exits."""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Branch, Edge, Graph
from depyf.decompiler.lift.fold import Folder, is_augmented
from depyf.decompiler.lift.nodes import Entry
from depyf.decompiler.structure.compounds import RULES
from depyf.decompiler.structure.polarity import keeps_polarity


@dataclass(slots=True)
class Arm:
    """A block folded to one expression (None: it computes nothing)."""

    block: Block
    entry: Entry | None


def computes(arm: Arm, temp: int) -> bool:
    """Return whether a temporary is the value of an arm."""
    return arm.entry is not None and arm.entry.temp == temp


def turned_round(test: Branch) -> Branch:
    """Return the branch on the opposite of a test."""
    return Branch(test.cond, test.if_false, test.if_true, test.line, None if test.near is None else not test.near)


def same_ways(left: Branch, right: Branch) -> bool:
    """Return whether two tests lead to the same places, each with the same outcome."""
    return same_edge(left.if_true, left.cond, right.if_true, right.cond) and same_edge(
        left.if_false, left.cond, right.if_false, right.cond
    )


def negates_second(left: Arm, right: Arm) -> bool:
    """Return whether the second of two opposite tests is the one to negate.

    The negation must not become another operation. The code that the later test guards comes next.
    """
    assert left.entry is not None
    assert right.entry is not None
    if keeps_polarity(left.entry.expr) != keeps_polarity(right.entry.expr):
        return keeps_polarity(left.entry.expr)
    later_is_second = right.block.index > left.block.index
    later = (right if later_is_second else left).block.exit
    assert isinstance(later, Branch)
    return later_is_second == (later.near is False)


def same_edge(left: Edge, left_cond: int, right: Edge, right_cond: int) -> bool:
    """Return whether two edges pass the same values to one block, if the two tested values count as equal.

    Args:
        left: the edge of the first test.
        left_cond: the value that the first test tests.
        right: the edge of the second test.
        right_cond: the value that the second test tests.
    """
    return left.target == right.target and all(
        a == b or (a == left_cond and b == right_cond) for a, b in zip(left.args, right.args)
    )


def externals(arm: Arm) -> list[int]:
    """Return the temporaries from other blocks that an arm reads."""
    defined = {temp for inst in arm.block.insts for temp in inst.defs}
    outside: dict[int, None] = {}
    for inst in arm.block.insts:
        if inst.op != "POP":
            outside.update((temp, None) for temp in inst.uses if temp not in defined)
    return list(outside)


def folded(graph: Graph, uses: dict[int, int], block: Block) -> Arm | None:
    """Fold a block to one expression, or to nothing.

    Args:
        graph: the graph of the block.
        uses: by temporary, how often the whole graph reads it.
        block: the block.

    Returns:
        the arm, or None if the block is more than one expression.
    """
    folder = Folder(graph, uses)
    folder.fold_expression(block.insts, RULES)
    if folder.slots is not None or folder.stmts or len(folder.pending) > 1:
        return None
    if not folder.pending:
        return Arm(block, None)
    entry = folder.pending[0]
    if entry.shared or entry.targets or is_augmented(entry):
        folder._settle([entry.temp])
        if entry.temp not in folder.by_temp or entry.shared:
            return None
    return Arm(block, entry)


def carried(edge: Edge, old: int, new: int) -> Edge:
    """Return an edge with one value replaced by another.

    Args:
        edge: the edge, which stays unchanged.
        old: the temporary that it passes now.
        new: the temporary to pass.
    """
    return Edge(edge.target, [new if arg == old else arg for arg in edge.args])


def last_line(block: Block) -> int | None:
    """Return the line of a block's last operation."""
    return block.insts[-1].line if block.insts else None
