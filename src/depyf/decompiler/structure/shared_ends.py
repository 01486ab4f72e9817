"""Join the last statements of a module or class body, which the compiler has copied to each path that reaches them.

Before: 1: ...; STORE_NAME x v1; return     2: ...; STORE_NAME x v2; return     (on the same lines of the source)
After:  1: ... -> 3     2: ... -> 3     3: STORE_NAME x v1; return

A function may return in several places. A module or class body has no `return`, so the copies must be joined.
"""

from __future__ import annotations

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.decompiler.graph.tac import Block, Goto, Graph, Inst, same_operation
from depyf.decompiler.graph.tails import lead_to
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.split import split_block


def share_ends(graph: Graph) -> None:
    """Join the copies of the last statements, if the code is a module's or a class body's."""
    if graph.code.flags & CO_OPTIMIZED:
        return
    by_end: dict[object, list[Block]] = {}
    for block in graph.live():
        if not isinstance(block.exit, Goto) or block.exit.edge.target != graph.end or not block.insts:
            continue
        last = block.insts[-1]
        alike = by_end.setdefault((last.op, last.line, block.handler), [])
        place = next((place for place, other in enumerate(alike) if _copied(block.insts, other.insts)), -1)
        if place < 0:
            alike.append(block)
        else:
            alike[place] = _share(graph, block, alike[place])


def _share(graph: Graph, block: Block, other: Block) -> Block:
    """Redirect a block to the end of another, as far as that is a copy of its own end; return the shared block."""
    length = _copied(block.insts, other.insts)
    step("blocks {} and {} share their last {} operations", block.index, other.index, length)
    rest = split_block(graph, other, len(other.insts) - length)
    lead_to(block, len(block.insts) - length, rest)
    return rest


def _copied(insts: list[Inst], others: list[Inst]) -> int:
    """Return the length of the common end of two blocks that uses no earlier values except equal ones."""
    length, best = 0, 0
    wanted: dict[int, int] = {}
    for first, second in zip(reversed(insts), reversed(others)):
        if not _same_source(first, second):
            break
        if any(wanted.pop(left, right) != right for left, right in zip(first.defs, second.defs)):
            break
        for left, right in zip(first.uses, second.uses):
            if wanted.setdefault(left, right) != right:
                return best
        length += 1
        if all(left == right for left, right in wanted.items()):
            best = length
    return best


def _same_source(first: Inst, second: Inst) -> bool:
    return first.line == second.line and same_operation(first, second) and len(first.uses) == len(second.uses)
