"""Compare the ends of blocks up to the renaming of temporaries, and lead one to another.

The compiler copies a short end of the code to the jumps that lead to it (tail duplication). Each place that undoes it
decides itself what a copy is; what two copies have in common is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from depyf.decompiler.graph.tac import Block, Edge, Goto, Inst, same_operation

DROPS = frozenset({"POP", "POP_EXCEPT"})
"""The operations that only remove a value from the stack."""
FIRST = -10
"""The number of the first value that an end makes itself: no temporary has it."""


class Renaming:
    """A walk over two copies in step.

    renamed: the value in the second copy for each value of the first that differs.
    """

    def __init__(self) -> None:
        self.renamed: dict[int, int] = {}

    def correspond(self, left: Sequence[int], right: Sequence[int]) -> bool:
        """Return whether values of the first copy are those of the second."""
        return [self.renamed.get(temp, temp) for temp in left] == list(right)

    def same_operations(self, left: Sequence[Inst], right: Sequence[Inst]) -> bool:
        """Return whether two sequences of operations are the same; their results correspond from then on."""
        if len(left) != len(right):
            return False
        for inst, other in zip(left, right):
            if not self.is_same(inst, other) or not self.correspond(inst.uses, other.uses):
                return False
            self.renamed.update(zip(inst.defs, other.defs))
        return True

    def is_same(self, left: Inst, right: Inst) -> bool:
        """Return whether two operations are the same, apart from their operands."""
        return same_operation(left, right) and len(left.defs) == len(right.defs)


def numbered(insts: Iterable[Inst]) -> tuple[list[tuple[int, ...]], dict[int, int]]:
    """Return what each operation uses, and the numbers of the results, which equal those of every copy.

    Values from before keep their own numbers.
    """
    numbers: dict[int, int] = {}
    uses = []
    for inst in insts:
        uses.append(tuple(numbers.get(temp, temp) for temp in inst.uses))
        for temp in inst.defs:
            numbers[temp] = FIRST - len(numbers)
    return uses, numbers


def makes(block: Block, temp: int) -> bool:
    """Return whether a value is a block's own: a phi, or the result of an operation."""
    return temp in block.phis or any(temp in inst.defs for inst in block.insts)


def lead_to(block: Block, place: int, shared: Block, values: Sequence[int] = ()) -> None:
    """Replace the end of a block by a jump to another block.

    Args:
        block: the block to change.
        place: the number of operations to keep.
        shared: the block to jump to.
        values: the temporaries to pass to the phis of `shared`.
    """
    block.insts, block.exit = block.insts[:place], Goto(Edge(shared.index, list(values)))
