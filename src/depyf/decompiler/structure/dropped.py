"""Remove tested values that are dropped where several tests merge (3.14).

Before: 1: Branch a -> 3 (...), 2      2: Branch b -> 3 (...), 4 (b)     0: Branch c -> 1, 4 (c)     4: v = phi; POP v
After:  1: Branch a -> 3 (...), 2      2: Branch b -> 3 (...), 4         0: Branch c -> 1, 4         4:

Only d of `(c and b) or d` is left there. A value that was not tested belongs to an expression statement.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Branch, Edge, Graph
from depyf.decompiler.steps import step


def kept_tests(graph: Graph) -> set[int]:
    """Return the tested values that anything but their test uses: an operation, a phi, another exit."""
    blocks = graph.live()
    tested = {block.exit.cond for block in blocks if type(block.exit) is Branch}
    kept: set[int] = set()
    for block in blocks:
        for inst in block.insts:
            if not tested.isdisjoint(inst.uses):
                kept.update(inst.uses)
        exit_ = block.exit
        if type(exit_) is not Branch:
            kept.update(exit_.reads())
        for edge in exit_.edges():
            kept.update(edge.args)
    return kept & tested


def remove_dropped(graph: Graph) -> None:
    """Remove the phis that only take values from tests, to drop them."""
    entries: dict[int, list[tuple[Block, Edge]]] = {}
    for block in graph.live():
        for edge in block.exit.edges():
            entries.setdefault(edge.target, []).append((block, edge))
    handled = {handler.target for handler in graph.handlers}
    used = _used(graph)
    for block in graph.live():
        if block.index not in handled:
            _remove(block, entries.get(block.index, []), used)


def _used(graph: Graph) -> set[int]:
    """Return the temporaries with other uses than drops."""
    used: set[int] = set()
    for block in graph.live():
        for inst in block.insts:
            if inst.op != "POP":
                used.update(inst.uses)
        used.update(block.exit.reads())
        for edge in block.exit.edges():
            used.update(edge.args)
    return used


def _remove(block: Block, entries: list[tuple[Block, Edge]], used: set[int]) -> None:
    for place in range(len(block.phis) - 1, -1, -1):
        phi = block.phis[place]
        dropped = [inst for inst in block.insts if inst.uses == [phi]]
        if phi in used or len(dropped) != 1 or not all(_tests(other, edge.args[place]) for other, edge in entries):
            continue
        step("block {} does not drop v{} any more: tests use its values", block.index, phi)
        block.insts = [inst for inst in block.insts if inst is not dropped[0]]
        block.stack = [temp for temp in block.stack if temp != phi]
        del block.phis[place]
        for _, edge in entries:
            del edge.args[place]


def _tests(block: Block, value: int) -> bool:
    return isinstance(block.exit, Branch) and block.exit.cond == value
