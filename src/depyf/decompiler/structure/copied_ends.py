"""Compare two copies of the end of the code, which the compiler writes in the place of jumps to a short end."""

from __future__ import annotations

from collections.abc import Sequence

from depyf.bytecode.places import Place
from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph, Inst, Raise, Reraise, Return, same_operation
from depyf.decompiler.graph.tails import DROPS, Renaming


class Copies(Renaming):
    """A walk over two copies in step, line for line.

    free: a value of the first copy that may correspond to any value; it is renamed by its first use.
    """

    def __init__(self, graph: Graph, free: int | None = None) -> None:
        super().__init__()
        self.graph = graph
        self.free = free

    def same(self, left: Block, first: int, right: Block, second: int) -> bool:
        """Return whether two blocks are the same from some places on, line for line.

        Args:
            left: the first block.
            first: the position of its first operation to compare.
            right: the second block.
            second: the position of its first operation to compare.
        """
        if not self.same_operations(left.insts[first:], right.insts[second:]):
            return False
        match left.exit, right.exit:
            case (Return(_, line), Return(_, other_line)) | (Raise(_, line), Raise(_, other_line)):
                return line == other_line and self.correspond(left.exit.reads(), right.exit.reads())
            case Reraise(exc), Reraise(other_exc):
                return self.correspond([exc], [other_exc])
            case Goto(edge), Goto(onward):
                same = self.correspond(edge.args, onward.args)
                return same and (self._end(edge) == self._end(onward) or self._lead_to_copies(edge, onward))
        return False

    def is_same(self, left: Inst, right: Inst) -> bool:
        """Return whether two operations are the same.

        A drop has the location of the operation before it, and none at a merge. That operation is a part of the
        expression whose value is dropped, or all of it.
        """
        if left.op not in DROPS or right.op != left.op:
            return left.line == right.line and same_operation(left, right)
        places = [self.graph.place(inst.offset) for inst in (left, right)]
        inside = None in places or _contains(*places) or _contains(*reversed(places))
        return inside and (left.line == right.line or None in (left.line, right.line))

    def correspond(self, left: Sequence[int], right: Sequence[int]) -> bool:
        """Return whether values of the first copy are those of the second."""
        free = self.free
        if free is not None and free in left and free not in self.renamed and len(left) == len(right):
            self.renamed[free] = right[left.index(free)]
        return super().correspond(left, right)

    def _end(self, edge: Edge) -> int:
        """Return the target of an edge, past blocks that only jump: the jump out of a `try` has another handler."""
        seen: set[int] = set()
        while edge.target not in seen and not edge.args:
            seen.add(edge.target)
            block = self.graph.block(edge.target)
            if block.insts or not isinstance(block.exit, Goto) or block.exit.edge.args:
                break
            edge = block.exit.edge
        return edge.target

    def _lead_to_copies(self, edge: Edge, other: Edge) -> bool:
        """Return whether two edges lead to copies of the end of the code, or of the end of a handler."""
        first, second = self.graph.block(edge.target), self.graph.block(other.target)
        ends = isinstance(first.exit, (Return, Raise, Reraise)) or {inst.op for inst in first.insts} == {"POP_EXCEPT"}
        return ends and not edge.args and first.handler == second.handler and self.same(first, 0, second, 0)


def _contains(whole: Place | None, part: Place | None) -> bool:
    """Return whether a known location contains another."""
    return whole is not None and part is not None and whole[:2] <= part[:2] and part[2:] <= whole[2:]
