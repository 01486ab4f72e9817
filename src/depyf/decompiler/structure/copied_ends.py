"""Compare two copies of the end of the code, which the compiler writes in the place of jumps to a short end."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph, Raise, Reraise, Return, same_operation


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
            same = same_operation(inst, other) and inst.line == other.line
            if not same or not self._correspond(inst.uses, other.uses):
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

    def _correspond(self, left: list[int], right: list[int]) -> bool:
        for temp, other in zip(left, right):
            if temp == self.free:
                self.renamed.setdefault(temp, other)
            if self.renamed.get(temp, temp) != other:
                return False
        return len(left) == len(right)

    def _lead_to_copies(self, edge: Edge, other: Edge) -> bool:
        """Return whether two edges lead to copies of the end of the code."""
        one, two = self.graph.block(edge.target), self.graph.block(other.target)
        ends = isinstance(one.exit, (Return, Raise)) and not edge.args
        return ends and one.handler == two.handler and self.same(one, 0, two, 0)
