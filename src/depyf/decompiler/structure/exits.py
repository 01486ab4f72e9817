"""Join the copies that the compiler has made of a short way out.

Before: 2: f(); return x     5: g(); return x     7: return x     (all on one line of the source)
After:  2: f(); -> 7         5: g(); -> 7         7: return x

A jump to a block that returns or raises becomes a copy of it. The copies bear the line of the block: code on one line
that does the same stood in one place. That place was left by `break`, or by the end of a statement, so the statement
is found only once the ways to it are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph, Raise, Reraise, Return, operation_key
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.split import split_block

DROPS = frozenset({"POP", "POP_EXCEPT"})
PUSH = "PUSH_EXC_INFO"


def join_exits(graph: Graph) -> None:
    """Let blocks that end in the same way on the same line go to one block for that."""
    ends = {block.index: line for block in graph.live() if (line := _line_of_end(graph, block)) is not None}
    if len(set(ends.values())) == len(ends):
        return
    often = {line for line, count in Counter(ends.values()).items() if count > 1}
    pushed = {temp for block in graph.live() for inst in block.insts if inst.op == PUSH for temp in inst.defs}
    groups: dict[Hashable, list[tuple[Block, int]]] = {}
    for block in [graph.block(index) for index, line in ends.items() if line in often]:
        found = _way_out(graph, block)
        if found is not None:
            place, words = found
            handled = tuple(temp for temp in _stack_at(block, place) if temp in pushed)
            groups.setdefault((block.handler, handled, words), []).append((block, place))
    for copies in groups.values():
        if len(copies) > 1:
            _join(graph, copies)


def _join(graph: Graph, copies: list[tuple[Block, int]]) -> None:
    # A copy that is a block of its own is where the code stood, the others are where a jump to it was.
    block, place = max(copies, key=lambda copy: (copy[1] == 0, copy[0].index))
    step("blocks {} leave in the same way", [copy[0].index for copy in copies])
    held = set.intersection(*(set(_stack_at(*copy)) for copy in copies))
    shared = split_block(graph, block, place) if place else block
    shared.stack = [temp for temp in shared.stack if temp in held]
    for other, start in copies:
        if other is not block:
            other.insts = other.insts[:start]
            other.exit = Goto(Edge(shared.index))


def _way_out(graph: Graph, block: Block) -> tuple[int, Hashable] | None:
    """Return where the code begins that leaves on one line, and what it is; None if it uses what was made before."""
    exit_, line = block.exit, _line_of_end(graph, block)
    if line is None or block.phis:
        return None
    place = len(block.insts)
    while place and block.insts[place - 1].line == line and block.insts[place - 1].op not in DROPS:
        place -= 1
    names: dict[int, int] = {}
    words: list[Hashable] = [type(exit_).__name__, line]
    for inst in block.insts[place:]:
        if any(temp not in names and temp >= 0 for temp in inst.uses):
            return None
        words.append((operation_key(inst), *(names.get(temp, temp) for temp in inst.uses)))
        names.update((temp, len(names)) for temp in inst.defs)
    uses = [] if isinstance(exit_, Reraise) else exit_.reads()
    words.extend(exit_.reads() if isinstance(exit_, Reraise) else [])
    is_bare = isinstance(exit_, Raise) and not uses
    if any(temp not in names and temp >= 0 for temp in uses) or (place == len(block.insts) and not is_bare):
        return None
    return place, (*words, *(names.get(temp, temp) for temp in uses))


def _line_of_end(graph: Graph, block: Block) -> int | None:
    """Return the line of the statement with which a block leaves; None if it does not."""
    exit_ = block.exit
    if isinstance(exit_, (Return, Raise)):
        return exit_.line
    leads_to_end = isinstance(exit_, Goto) and exit_.edge.target == graph.end and graph.end >= 0
    return block.insts[-1].line if block.insts and (leads_to_end or isinstance(exit_, Reraise)) else None


def _stack_at(block: Block, place: int) -> list[int]:
    """Return what lies on the stack at a place in a block, of what lay there at its start or is bookkeeping."""
    stack = block.stack + [temp for inst in block.insts[:place] if inst.op == PUSH for temp in inst.defs]
    popped = {inst.uses[0] for inst in block.insts[:place] if inst.op in DROPS}
    return [temp for temp in stack if temp not in popped]
