"""Invariants of graphs of three-address code."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.bytecode.operations import OPERATIONS
from depyf.decompiler.graph.tac import KEEP, Block, ForIter, Goto, Graph
from depyf.decompiler.show.graph import block_lines, edge_text, name
from depyf.decompiler.structure.compounds import RULES

DROPS = frozenset({"POP", "POP_EXCEPT"})
"""Operations that drop a value: bookkeeping, which may outlive the operation that made the value."""
OPS = frozenset(OPERATIONS) | frozenset(RULES)


def broken(graph: Graph) -> Iterator[tuple[str, str]]:
    """Yield the broken invariants of a graph, with the lines of the block.

    - A block has its own index, and there is a first block.
    - An edge leads to an existing block, with one value for each of its phis.
    - A block is protected by an existing handler, or by none.
    - An operation exists in the tables, and a used value is made somewhere.
    - No two operations make one value, unless each sets it on its own path: moves, and what hands a value over to a
      phi under the phi's name.
    """
    if graph.blocks[0] is None:
        yield "there is no first block", ""
    defined = made_in(graph)
    blocks = {block.index: block for block in graph.live()}
    handed = {temp for block in graph.live() for temp in _handed(block, blocks)}
    seen: dict[int, bool] = {}
    for live in graph.live():
        defs = [(temp, inst.op == "MOVE" or temp in handed) for inst in live.insts for temp in inst.defs]
        for temp, sets in (*((phi, phi in handed) for phi in live.phis), *defs):
            if temp in seen and not (sets and seen[temp]):
                yield f"{name(temp)} is made twice", "\n".join(block_lines(graph, live))
            seen[temp] = sets
    for place, block in enumerate(graph.blocks):
        if block is not None:
            for what in _of_block(graph, place, block, defined):
                yield what, "\n".join(block_lines(graph, block))


def _handed(block: Block, blocks: dict[int, Block]) -> Iterator[int]:
    """Yield the values that a block makes under the name of the phi that takes them."""
    if isinstance(block.exit, Goto) and block.exit.edge.target in blocks:
        defined = {temp for inst in block.insts for temp in inst.defs}
        phis = blocks[block.exit.edge.target].phis
        yield from (phi for phi, arg in zip(phis, block.exit.edge.args) if phi == arg and phi in defined)


def made_in(graph: Graph) -> set[int]:
    """Return the temporaries that are made in a graph."""
    defined = {temp for handler in graph.handlers for temp in (handler.exc, handler.lasti)}
    for block in graph.live():
        defined.update(block.phis)
        defined.update(temp for inst in block.insts for temp in inst.defs)
        defined.update(inst.arg for inst in block.insts if inst.op == KEEP and isinstance(inst.arg, int))
        if isinstance(block.exit, ForIter):
            defined.add(block.exit.value)
    return defined


def _of_block(graph: Graph, place: int, block: Block, defined: set[int]) -> Iterator[str]:
    if block.index != place:
        yield f"block {block.index} lies where block {place} should"
    if block.handler >= 0 and not _is_there(graph, block.handler):
        yield f"handler {block.handler} is not there"
    for edge in block.exit.edges():
        target = graph.blocks[edge.target] if 0 <= edge.target < len(graph.blocks) else None
        if target is None:
            yield f"the edge to {edge.target} has no target block"
        elif len(edge.args) != len(target.phis):
            yield f"the edge to {edge_text(edge)} has {len(edge.args)} values for {len(target.phis)} phis"
    used = [temp for inst in block.insts if inst.op not in DROPS for temp in inst.uses]
    used += [*block.exit.reads(), *(temp for edge in block.exit.edges() for temp in edge.args)]
    for temp in used:
        if temp >= 0 and temp not in defined:
            yield f"{name(temp)} is made nowhere"
    for inst in block.insts:
        if inst.op not in OPS:
            yield f"there is no operation {inst.op}"


def _is_there(graph: Graph, handler: int) -> bool:
    return handler < len(graph.handlers) and graph.blocks[graph.handlers[handler].target] is not None
