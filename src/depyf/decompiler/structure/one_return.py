"""Join the returns that the compiler wrote for one `return` with a conditional expression.

Before: 0: Branch v0 -> 1, 2    1: v1 = b; return v1    2: v2 = c; return v2
After:  0: Branch v0 -> 1, 2    1: v1 = b -> 3 (v1)     2: v2 = c -> 3 (v2)      3 (v3): return v3

All returns have the location of one statement, and the test is inside of it. Copies of a `finally` body correspond only
if such returns are joined. In code without handlers `passes/source_form/conditionals.py` joins them.
"""

from __future__ import annotations

from depyf.bytecode.places import Place
from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.successors import predecessors
from depyf.decompiler.graph.tac import Block, Branch, Goto, Graph, Return
from depyf.decompiler.graph.tails import DROPS
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import prune
from depyf.decompiler.structure.value_copies import copies_of, cut_before, join_at, operand


def join_one_return(graph: Graph) -> None:
    """Lead the arms of a conditional expression in a `return` to one end."""
    if not graph.places or not graph.handlers:
        return
    returns = _lines_of_returns(graph)
    before = predecessors(graph)
    has_joined = False
    for index in postorder(graph):
        block = graph.block(index)
        if isinstance(block.exit, Branch) and block.insts:
            place = graph.place(block.insts[-1].offset)
            if place is not None and any(_is_inside(place, around) for around in returns.get(place.line, ())):
                has_joined |= _join(graph, block, place, before)
    if has_joined:
        prune(graph)


def _lines_of_returns(graph: Graph) -> dict[int, list[Place]]:
    """Return the locations of all `return` statements, by each of their lines."""
    exits = [block.exit for block in graph.live() if isinstance(block.exit, Return)]
    by_line: dict[int, list[Place]] = {}
    for place in {place for exit_ in exits if (place := graph.place(exit_.offset)) is not None}:
        for line in range(place.line, place.end_line + 1):
            by_line.setdefault(line, []).append(place)
    return by_line


def _is_inside(test: Place, whole: Place) -> bool:
    """Return whether a test is in a statement, and not all of it."""
    return whole[:2] < test[:2] and test[2:] <= whole[2:]


def _join(graph: Graph, block: Block, test: Place, before: dict[int, list[int]]) -> bool:
    """Join the returns after a test that are of the statement around it."""
    arms = dict.fromkeys(arm.index for edge in block.exit.edges() for arm in operand(graph, edge, block))
    ends = [arm for arm in arms if _returns(graph, graph.block(arm), test, before)]
    if len(ends) < 2:
        return False
    first = graph.block(ends[0])
    value = _returned(graph, first).value
    place = _behind(first, value)
    if place is None:
        return False
    all_copies = copies_of((first, place, value), list(map(graph.block, arms)), graph)
    copies = [copy for copy in all_copies if copy[0].index in ends[1:]]
    if copies:
        step("block {} and the blocks that end as it does are arms of one `return`", first.index)
        join_at(graph, cut_before(graph, first, place, value, before), copies, before)
    return bool(copies)


def _returns(graph: Graph, block: Block, test: Place, before: dict[int, list[int]]) -> bool:
    """Return whether a block ends with the `return` around a test, or only leads to it.

    The value of a `return` that is nowhere written has the location of the `return`, which is that of a statement. A
    `return` in a `with` has that of the `with`, as the call of `__exit__` before it: it tells nothing.
    """
    exit_, insts = block.exit, block.insts
    if isinstance(exit_, Goto):
        target = graph.block(exit_.edge.target)
        if before[target.index] != [block.index] or exit_.edge.args:
            return False
        exit_, insts = target.exit, insts + target.insts
    if not isinstance(exit_, Return):
        return False
    place = graph.place(exit_.offset)
    if place is None or any(graph.place(inst.offset) == place for inst in insts if inst.op not in DROPS):
        return False
    return _is_inside(test, place)


def _returned(graph: Graph, block: Block) -> Return:
    exit_ = graph.block(block.exit.edge.target).exit if isinstance(block.exit, Goto) else block.exit
    assert isinstance(exit_, Return)
    return exit_


def _behind(block: Block, value: int) -> int | None:
    """Return the place after the operation that makes a value, 0 for a phi, None if another block makes it."""
    if value in block.phis:
        return 0
    return next((place for place, inst in enumerate(block.insts, 1) if value in inst.defs), None)
