"""Join the compiler's copies of a short exit.

Before: 2: f(); return x     5: g(); return x     7: return x     (all on one line of the source)
After:  2: f(); -> 7         5: g(); -> 7         7: return x

A jump to a block that returns or raises becomes a copy of it. The copies have the line of the block: equivalent code on
one line comes from one place. That place was reached by `break`, or by the end of a statement, so the statement can be
found only when the paths to it are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from depyf.decompiler.graph.successors import predecessors
from depyf.decompiler.graph.tac import Block, Exit, Goto, Graph, Inst, Raise, Reraise, Return, operation_key
from depyf.decompiler.graph.tails import DROPS, lead_to, numbered
from depyf.decompiler.lift.definitions import LAZY
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.split import split_block
from depyf.decompiler.structure.regions.table import prune

PUSH = "PUSH_EXC_INFO"


def join_exits(graph: Graph) -> None:
    """Redirect blocks with the same end on the same line to one block.

    Those of a lambda, or of a lazily evaluated value, are operands of one expression, which may contain equal ones:
    `a if b else a`.
    """
    if graph.code.name == "<lambda>" or graph.code.parameters == LAZY:
        return
    behind = _parted_ends(graph)
    ends = {
        block.index: line
        for block in graph.live()
        if (line := _line_of_end(graph, behind.get(block.index, block))) is not None
    }
    if len(set(ends.values())) == len(ends):
        return
    often = {line for line, count in Counter(ends.values()).items() if count > 1}
    pushed = {temp for block in graph.live() for inst in block.insts if inst.op == PUSH for temp in inst.defs}
    groups: dict[Hashable, list[tuple[Block, int]]] = {}
    for block in [graph.block(index) for index, line in ends.items() if line in often]:
        place_and_words = _way_out(graph, block, behind.get(block.index, block))
        if place_and_words is not None:
            place, words = place_and_words
            handled = tuple(temp for temp in _stack_at(block, place) if temp in pushed)
            groups.setdefault((block.handler, handled, words), []).append((block, place))
    onward: dict[int, int] = {}
    for copies in groups.values():
        if len(copies) > 1:
            onward.update(_join(graph, copies))
    for edge in [edge for block in graph.live() for edge in block.exit.edges()]:
        edge.target = onward.get(edge.target, edge.target)
    prune(graph)


def _parted_ends(graph: Graph) -> dict[int, Block]:
    """Return the returns after protected blocks that make the value and are their only predecessors.

    They are not part of the protected code.
    """
    if not graph.handlers:
        return {}
    ends = [block for block in graph.live() if isinstance(block.exit, Return) and not block.insts and not block.phis]
    before = predecessors(graph)
    alone = [(before[block.index][0], block) for block in ends if len(before[block.index]) == 1]
    return {source: block for source, block in alone if isinstance(graph.block(source).exit, Goto)}


def _join(graph: Graph, copies: list[tuple[Block, int]]) -> dict[int, int]:
    """Redirect copies to one of them; return the targets of those that became empty."""
    # A copy that is a whole block is the original; at the others there was a jump to it.
    block, place = max(copies, key=lambda copy: (copy[1] == 0, copy[0].index))
    step("blocks {} have the same exit", [copy[0].index for copy in copies])
    held = set.intersection(*(set(_stack_at(*copy)) for copy in copies))
    shared = split_block(graph, block, place) if place else block
    shared.stack = [temp for temp in shared.stack if temp in held]
    for other, start in copies:
        if other is not block:
            lead_to(other, start, shared)
    return {other.index: shared.index for other, start in copies if other is not block and not start}


def _way_out(graph: Graph, block: Block, end: Block) -> tuple[int, Hashable] | None:
    """Return where the exit code on one line begins, and its key; None if it uses earlier values.

    Args:
        end: the block itself, or the one after it that returns.
    """
    exit_, line = end.exit, _line_of_end(graph, end)
    place = len(block.insts)
    while place and block.insts[place - 1].line == line and block.insts[place - 1].op not in DROPS:
        place -= 1
    if block.phis and not place:
        return None
    words = _words(block.insts[place:], exit_)
    if words is None or (place == len(block.insts) and not isinstance(exit_, Raise)):
        return None
    return place, (type(exit_).__name__, line, end.handler, *words)


def _words(insts: list[Inst], exit_: Exit) -> list[Hashable] | None:
    """Return keys for operations and the exit after them; None if they use earlier values."""
    uses, numbers = numbered(insts)
    reads = exit_.reads() if isinstance(exit_, Reraise) else [numbers.get(temp, temp) for temp in exit_.reads()]
    needed = [temp for temps in uses for temp in temps] + (reads if not isinstance(exit_, Reraise) else [])
    if any(temp >= 0 for temp in needed):
        return None
    return [*((operation_key(inst), *temps) for inst, temps in zip(insts, uses)), *reads]


def _line_of_end(graph: Graph, block: Block) -> int | None:
    """Return the line of the statement with which a block exits; None if it does not."""
    exit_ = block.exit
    if isinstance(exit_, (Return, Raise)):
        return exit_.line
    leads_to_end = isinstance(exit_, Goto) and exit_.edge.target == graph.end
    return block.insts[-1].line if block.insts and (leads_to_end or isinstance(exit_, Reraise)) else None


def _stack_at(block: Block, place: int) -> list[int]:
    """Return the stack at a place in a block: the values from its start, and bookkeeping."""
    stack = block.stack + [temp for inst in block.insts[:place] if inst.op == PUSH for temp in inst.defs]
    popped = {inst.uses[0] for inst in block.insts[:place] if inst.op in DROPS}
    return [temp for temp in stack if temp not in popped]
