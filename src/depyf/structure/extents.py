"""How far the statement of each loop reaches, where the code says it.

Before: 0: Leave -> 1, behind the loop: 9      1: for ... -> 2, else 5      5: f() -> 9
After:  the statement of the loop at block 1 ends where block 9 begins, and block 5 is its `else`
"""

from __future__ import annotations

import bisect

from depyf.lift.tac import ForIter, Graph, Leave

UNKNOWN = -1


class Extents:
    """The offsets behind loops."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        leaves = [(block, block.exit) for block in graph.live() if isinstance(block.exit, Leave)]
        opened = sorted((pair for pair in leaves if pair[1].opens), key=lambda pair: pair[0].offset)
        self.opens = [block.offset for block, _ in opened]
        self.behind = [graph.block(exit_.beyond.target).offset for _, exit_ in opened]
        of_for = {self._opening(block.offset) for block in graph.live() if isinstance(block.exit, ForIter)}
        whiles = [(index, block, exit_) for index, (block, exit_) in enumerate(opened) if index not in of_for]
        self.openers = {exit_.edge.target: block.index for _, block, exit_ in whiles}
        """The block that opens each `while`, by the first block of that."""
        self.whiles = {exit_.edge.target: index for index, _, exit_ in whiles}

    def _opening(self, offset: int) -> int:
        """Return the number of what opens the `for` loop at an offset: nothing is opened in between."""
        return bisect.bisect_right(self.opens, offset) - 1

    def behind_for(self, label: int) -> int:
        """Return the offset behind the `for` loop with this header, or UNKNOWN."""
        number = self._opening(self.graph.block(label).offset)
        return self.behind[number] if number >= 0 else UNKNOWN

    def behind_while(self, label: int) -> int:
        """Return the offset behind the `while` loop with this header, or UNKNOWN."""
        number = self.whiles.get(label)
        return self.behind[number] if number is not None else UNKNOWN
