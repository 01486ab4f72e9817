"""The extent of each loop statement, if the code shows it.

Before: 0: SETUP_LOOP 40     6: FOR_ITER 20     20: f()     40: g()
After:  the statement of the loop at 6 ends at 40, and the code at 20 is its `else`
"""

from __future__ import annotations

import bisect

from depyf.decompiler.graph.tac import ForIter, Graph

UNKNOWN = -1


class Extents:
    """The offsets after loops.

    whiles: the number of each `while`, by its first block.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.loops = sorted(graph.loops)
        self.opened = [loop.opened for loop in self.loops]
        headers = [self._opening(block.offset) for block in graph.live() if isinstance(block.exit, ForIter)]
        of_for = {self.opened[number] for number in headers if number >= 0}
        self.whiles = {loop.start: number for number, loop in enumerate(self.loops) if loop.opened not in of_for}

    def _opening(self, offset: int) -> int:
        """Return the number of the `for` loop whose header is at an offset: no other is opened in between."""
        return bisect.bisect_right(self.opened, offset) - 1

    def behind_for(self, label: int) -> int:
        """Return the offset after the `for` loop with this header, or UNKNOWN."""
        number = self._opening(self.graph.block(label).offset)
        return self.loops[number].behind if number >= 0 else UNKNOWN

    def behind_while(self, label: int) -> int:
        """Return the offset after the `while` loop with this header, or UNKNOWN."""
        number = self.whiles.get(label)
        return self.loops[number].behind if number is not None else UNKNOWN
