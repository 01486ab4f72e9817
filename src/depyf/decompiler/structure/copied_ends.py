"""Compare two copies of the end of the code, which the compiler writes in the place of jumps to a short end."""

from __future__ import annotations

from depyf.bytecode.places import Place
from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph, Inst, Raise, Reraise, Return, same_operation

DROPS = ("POP", "POP_EXCEPT")


class Copies:
    """A walk over two copies in step.

    renamed: the value in the second copy for each value of the first that differs.
    free: a value of the first copy that may correspond to any value; it is renamed by its first use.
    """

    def __init__(self, graph: Graph, free: int | None = None) -> None:
        self.graph = graph
        self.free = free
        self.renamed: dict[int, int] = {}

    def same(self, one: Block, first: int, two: Block, second: int) -> bool:
        """Return whether two blocks are the same from these places on, line for line."""
        left, right = one.insts[first:], two.insts[second:]
        if len(left) != len(right):
            return False
        for inst, other in zip(left, right):
            if not self._same_operation(inst, other) or not self._correspond(inst.uses, other.uses):
                return False
            self.renamed.update(zip(inst.defs, other.defs))
        match one.exit, two.exit:
            case (Return(_, line), Return(_, other_line)) | (Raise(_, line), Raise(_, other_line)):
                return line == other_line and self._correspond(one.exit.reads(), two.exit.reads())
            case Reraise(exc), Reraise(other_exc):
                return self._correspond([exc], [other_exc])
            case Goto(edge), Goto(onward):
                same = self._correspond(edge.args, onward.args)
                return same and (edge.target == onward.target or self._lead_to_copies(edge, onward))
        return False

    def _same_operation(self, one: Inst, two: Inst) -> bool:
        """Return whether two operations are the same.

        A drop has the location of the operation before it, and none at a merge. That operation is a part of the
        expression whose value is dropped, or all of it.
        """
        if one.op not in DROPS or two.op != one.op:
            return one.line == two.line and same_operation(one, two)
        places = [self.graph.place(inst.offset) for inst in (one, two)]
        inside = None in places or _contains(*places) or _contains(*reversed(places))
        return inside and (one.line == two.line or None in (one.line, two.line))

    def _correspond(self, left: list[int], right: list[int]) -> bool:
        for temp, other in zip(left, right):
            if temp == self.free:
                self.renamed.setdefault(temp, other)
            if self.renamed.get(temp, temp) != other:
                return False
        return len(left) == len(right)

    def _lead_to_copies(self, edge: Edge, other: Edge) -> bool:
        """Return whether two edges lead to copies of the end of the code, or of the end of a handler."""
        one, two = self.graph.block(edge.target), self.graph.block(other.target)
        ends = isinstance(one.exit, (Return, Raise, Reraise)) or {inst.op for inst in one.insts} == {"POP_EXCEPT"}
        return ends and not edge.args and one.handler == two.handler and self.same(one, 0, two, 0)


def _contains(whole: Place | None, part: Place | None) -> bool:
    """Return whether a known location contains another."""
    return whole is not None and part is not None and whole[:2] <= part[:2] and part[2:] <= whole[2:]
