"""Lead the failures of tests back to the test of the value that they belong to (3.14).

Before: 1: Branch v1 -> 2, 9 (v1)   2: Branch v2 -> 3, 9 (v2)   3: v3 = c -> 4 (v3)   4 (v4): Branch v4 -> 5, 9 (v4)
After:  1: Branch v1 -> 2, 4 (v1)   2: Branch v2 -> 3, 4 (v2)   the same

In `(x if y else (a or b or c)) and d`, the compiler leads past block 4 what is known to fail there.
"""

from __future__ import annotations

from depyf.decompiler.graph.successors import predecessors
from depyf.decompiler.graph.tac import Block, Branch, Goto, Graph
from depyf.decompiler.steps import step


def lead_back(graph: Graph) -> None:
    """Redirect the edges of tests that do what the test of a joined value would do with theirs."""
    tested = [block for block in graph.live() if _only_tests(block)]
    if not tested:
        return
    before = predecessors(graph)
    for meeting in tested:
        for last in before[meeting.index]:
            if isinstance(graph.block(last).exit, Goto):
                _lead_all(graph, last, meeting, before)


def _only_tests(block: Block) -> bool:
    """Return whether a block only tests the one value that reaches it."""
    return not block.insts and isinstance(block.exit, Branch) and block.phis == [block.exit.cond]


def _lead_all(graph: Graph, last: int, meeting: Block, before: dict[int, list[int]]) -> None:
    """Redirect the edges of the tests that alone lead to block `last`, from the last test to the first."""
    while len(before[last]) == 1:
        last = before[last][0]
        exit_ = graph.block(last).exit
        if isinstance(exit_, Branch) and not _redirect(exit_, meeting):
            return
        if isinstance(exit_, Branch):
            step("block {} leads to {}, as what follows it does", last, meeting.index)
        elif not isinstance(exit_, Goto):
            return


def _redirect(test: Branch, meeting: Block) -> bool:
    """Redirect the edge of a test that does what block `meeting` would do; return whether there is one."""
    assert isinstance(meeting.exit, Branch)
    for edge, whole in zip(test.edges(), meeting.exit.edges()):
        handed = [test.cond if arg == meeting.phis[0] else arg for arg in whole.args]
        if edge.target == whole.target and edge.args == handed:
            edge.target, edge.args = meeting.index, [test.cond]
            return True
    return False
