"""Decide which `with` statements stay statements.

A `with` stays a statement if only one place enters it, with the operation that enters its manager, and if every exit
calls the manager's exit. Only the statement looks up both methods in the same way.
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph
from depyf.decompiler.structure.dispatch.markers import Markers
from depyf.decompiler.structure.dispatch.scopes import Scope, Scopes
from depyf.decompiler.structure.regions import with_
from depyf.decompiler.structure.regions.table import Kind, Regions, prune

ENTER = frozenset({"ENTER_WITH", "ENTER_ASYNC_WITH"})
AWAIT = frozenset({"GET_AWAITABLE", "CONST", "YIELD_FROM"})


def keep_withs(graph: Graph, regions: Regions) -> dict[int, Block]:
    """Remove the bookkeeping of `with` statements; return by handler the block that enters each."""
    scopes = Scopes(graph, Markers(graph), set())
    for block in graph.live():
        # Finding the markers has cut blocks.
        regions.ways.note(block)
    withs = [region for region in regions.regions if region.kind is Kind.WITH and region.handler in scopes.bodies]
    kept = [region for region in withs if _is_entered(regions, scopes, region.handler)]
    stripped = [(region.handler, with_.strip(regions, region, keeps_jumps=False)) for region in kept]
    exits = {stripped_with.exit: handler for handler, stripped_with in stripped if stripped_with is not None}
    prune(graph)
    entering: dict[int, Block] = {}
    for block in graph.live():
        for inst in block.insts:
            if inst.op in ENTER and inst.defs[0] in exits:
                entering[exits[inst.defs[0]]] = block
    for handler, enter in entering.items():
        _relay(regions, handler, enter)
    return entering


def _is_entered(regions: Regions, scopes: Scopes, handler: int) -> bool:
    """Return whether only a block that ends by entering the manager leads into a `with`."""
    graph = regions.graph
    exit_temp = graph.block(graph.handlers[handler].target).insts[1].uses[0]
    body = scopes.bodies[handler]
    inside = _blocks(body)
    leading = {source for index in inside for source in regions.ways.sources(index)} - inside
    if len(leading) != 1 or 0 in inside:
        return False
    enter = graph.block(leading.pop())
    if not isinstance(enter.exit, Goto) or scopes.of[enter.index] is not body.parent:
        return False
    rest = list(enter.insts)
    while rest and rest[-1].op in AWAIT:
        rest.pop()
    return bool(rest) and rest[-1].op in ENTER and rest[-1].defs[0] == exit_temp


def _relay(regions: Regions, handler: int, enter: Block) -> None:
    """Continue after the statement when the manager has suppressed an exception, and only then elsewhere."""
    graph = regions.graph
    target = graph.block(graph.handlers[handler].target)
    relay = graph.new_block([], target.exit, enter.handler, list(enter.stack))
    target.exit = Goto(Edge(relay.index))
    regions.ways.note(relay)
    regions.ways.note(target)


def _blocks(body: Scope) -> set[int]:
    """Return the blocks in the body of a `try`, including its nested statements."""
    indices: set[int] = set()
    work = [body]
    while work:
        scope = work.pop()
        indices.update(scope.blocks)
        work.extend(scope.inner)
        work.extend(inner.code for inner in scope.inner if inner.code is not None)
    return indices
