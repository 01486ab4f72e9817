"""The unbinding of `except E as name`.

Before: the clause's body is protected by a handler that does `name = None; del name` and raises again;
        every exit of the body does POP_EXCEPT; name = None; del name, or that before POP_EXCEPT
After:  neither; the name's store at the start of the clause implies them
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Goto, Graph, Inst, Raise, Reraise, Return
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import Region, Regions, skip_empty


def dissolve(regions: Regions, region: Region) -> bool:
    """Remove the handler that unbinds a name; return False, and change nothing, if an exit does not unbind it."""
    graph = regions.graph
    target = graph.block(graph.handlers[region.handler].target)
    name = _key(target.insts[-2])
    for _, edge in regions.exits(regions.body(region.handler)):
        if _unbinding(skip_empty(graph, edge.target).insts, {name}) is None:
            return False
    _keep_beyond(regions, region, target)
    regions.dissolve(region.handler)
    regions.ways.prune([target.index])
    return True


def _keep_beyond(regions: Regions, region: Region, handler: Block) -> None:
    """Give the last end of a clause that never falls through the apparent fallthrough of its handler."""
    graph = regions.graph
    assert isinstance(handler.exit, Reraise)
    beyond = handler.exit.beyond
    body = regions.body(region.handler)
    inside = [graph.block(index) for index in body]
    ends = [*inside, *(skip_empty(graph, edge.target) for _, edge in regions.exits(body))]
    if beyond is None or any(beyond.target in (edge.target for edge in block.exit.edges()) for block in ends):
        return
    ends = [block for block in ends if isinstance(block.exit, (Raise, Return)) and block.exit.beyond is None]
    if ends:
        last = max(ends, key=lambda block: block.insts[-1].offset if block.insts else -1)
        assert isinstance(last.exit, (Raise, Return))
        last.exit.beyond = beyond
        regions.ways.note(last)


def strip_unbindings(graph: Graph, handlers: list[int]) -> None:
    """Remove the unbinding of names after POP_EXCEPT, or before it, from the clauses of handlers."""
    stored: dict[int, set[tuple[str, object]]] = {}
    ends: dict[int, list[tuple[Block, Inst]]] = {}
    before: dict[int, list[Block]] = {}
    for block in graph.live():
        seen = set()
        for edge in block.exit.edges():
            before.setdefault(edge.target, []).append(block)
        for inst in block.insts:
            if inst.op.startswith("STORE_") and len(inst.uses) == 1:
                stored.setdefault(inst.uses[0], set()).add(_key(inst))
            elif inst.op == "POP_EXCEPT" and inst.uses[0] not in seen:
                seen.add(inst.uses[0])
                ends.setdefault(inst.uses[0], []).append((block, inst))
    for handler in handlers:
        names = stored.get(graph.handlers[handler].exc, set())
        start = graph.block(graph.handlers[handler].target)
        for saved in (temp for inst in start.insts[:1] if inst.op == "PUSH_EXC_INFO" for temp in inst.defs):
            for block, end in ends.get(saved, ()):
                _remove(block, end, names, before.get(block.index, []))


def _remove(block: Block, end: Inst, names: set[tuple[str, object]], before: list[Block]) -> None:
    place = next(place for place, inst in enumerate(block.insts) if inst is end)
    leading = [source for source in before if isinstance(source.exit, Goto) and _unbinding(source.insts[-3:], names)]
    if place == 0 and before and leading == before:
        # At the exit of a `with`, the code after POP_EXCEPT has another handler: it is a separate block.
        for source in before:
            del source.insts[-2:]
        return
    pair = _unbinding(block.insts[place:], names)
    if pair is None and _unbinding(block.insts[place - 3 : place], names) is not None:
        pair = block.insts[place - 2 : place]
    if pair is not None:
        step("block {}: unbinding {} is part of its clause", block.index, pair[0].arg)
        block.insts = [inst for inst in block.insts if inst not in pair]


def _key(inst: Inst) -> tuple[str, object]:
    """Return a variable as its kind and name."""
    return inst.op.partition("_")[2], inst.arg


def _unbinding(insts: list[Inst], names: set[tuple[str, object]]) -> list[Inst] | None:
    """Return the two operations that unbind one of the names, if only POP_EXCEPT precedes them."""
    for inst, following in zip(insts, insts[1:]):
        if inst.op.startswith("STORE_") and following.op.startswith("DELETE_") and _key(inst) == _key(following):
            return [inst, following] if _key(inst) in names else None
        if inst.op not in ("POP_EXCEPT", "CONST", "POP"):
            return None
    return None
