"""`with` and `async with`.

Before: every exit of the body calls the manager's exit with three Nones; the handler calls it with the exception and
        raises again unless the result is true
After:  neither; the region is marked as the body of a `with` whose exit is `exit`, and its handler just jumps to where
        it continues when the exit has suppressed an exception
"""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Branch, Edge, Goto, Graph, Inst, Reraise
from depyf.decompiler.structure.regions.same import same_code
from depyf.decompiler.structure.regions.table import Region, Regions, skip_empty


@dataclass(slots=True)
class With:
    """A `with` without its bookkeeping; `exit` is the temporary of its exit."""

    exit: int
    is_async: bool


def strip(regions: Regions, region: Region, *, keeps_jumps: bool = True) -> With | None:
    """Remove the calls of the exit of a `with`.

    Args:
        regions: the regions of the graph, which is changed in place.
        region: the handler that calls the exit with the exception.
        keeps_jumps: whether a `break` or `continue` stays inside the body.

    Returns:
        the `with`; None, without any change, if one call is missing.
    """
    graph = regions.graph
    block = graph.block(graph.handlers[region.handler].target)
    start = block.insts[1]
    exit_temp = start.uses[0]
    tested, is_async = _tested(block, start)
    if tested is None:
        return None
    suppress = _suppress_branch(graph, block, tested)
    if suppress is None:
        return None
    calls: dict[int, tuple[Block, list[Inst]]] = {}
    for _, edge in regions.exits(regions.body(region.handler)):
        target = skip_empty(graph, edge.target)
        call = _exit_call(target, exit_temp, is_async)
        if call is None:
            return None
        calls[target.index] = (target, call)
    follow = _after_suppression(regions, suppress, exit_temp)
    for target, call in calls.values():
        follow = _join_follow(regions, target, call, follow)
        target.insts = [inst for inst in target.insts if not any(inst is other for other in call)]
    for target, _ in calls.values() if keeps_jumps else ():
        _keep_jump(regions, region, target, follow)
    left = [edge.target for edge in block.exit.edges()]
    block.insts = block.insts[:1]
    block.exit = Goto(Edge(follow, []))
    regions.ways.note(block)
    regions.ways.prune(left)
    return With(exit_temp, is_async)


def _join_follow(regions: Regions, target: Block, call: list[Inst], follow: int) -> int:
    """Return the target after a suppressed exception: the code after a call of the exit, if that is a copy."""
    graph = regions.graph
    place = next(number for number, inst in enumerate(target.insts) if inst is call[-1]) + 1
    rest = Block(target.index, target.insts[place:], target.exit, target.handler)
    if not rest.insts and isinstance(rest.exit, Goto) and not rest.exit.edge.args:
        after = skip_empty(graph, rest.exit.edge.target)
        return after.index if same_code(graph, after, graph.block(follow)) else follow
    return regions.ways.split(target, place).index if same_code(graph, rest, graph.block(follow)) else follow


def _keep_jump(regions: Regions, region: Region, target: Block, follow: int) -> None:
    """Keep a `break` or `continue` out of the body in it.

    A jump to another place than that of a suppressed exception is inside, because only one of both would reach code
    after the `with`.
    """
    graph, ways = regions.graph, regions.ways
    if graph.source_order or not isinstance(target.exit, Goto) or target.exit.edge.args:
        return
    onward = skip_empty(graph, target.exit.edge.target)
    drops = all(inst.op in ("POP", "POP_EXCEPT", "CONST") for inst in target.insts)
    body = regions.body(region.handler)
    if not drops or onward.index == follow or any(source not in body for source in ways.sources(target.index)):
        return
    if same_code(graph, onward, graph.block(follow)):
        return
    target.handler = region.handler
    ways.note(target)


def _tested(block: Block, start: Inst) -> tuple[int | None, bool]:
    """Return the value that tells whether the exception is suppressed, and whether it was awaited."""
    rest = [inst for inst in block.insts[2:] if inst.op != "CONST"]
    if not rest:
        return start.defs[0], False
    if [inst.op for inst in rest] == ["GET_AWAITABLE", "YIELD_FROM"] and rest[0].uses == start.defs:
        return rest[1].defs[0], True
    return None, False


def _suppress_branch(graph: Graph, block: Block, tested: int) -> Edge | None:
    """Return the target of a true result; a false one must re-raise."""
    match block.exit:
        case Branch(cond, if_true, if_false) if cond == tested:
            again = graph.block(if_false.target)
            if not again.insts and isinstance(again.exit, Reraise):
                return if_true
    return None


def _exit_call(block: Block, exit_temp: int, is_async: bool) -> list[Inst] | None:
    """Return the operations of the call `exit(None, None, None)` at the start of a block."""
    nones: set[int] = set()
    for place, inst in enumerate(block.insts):
        if inst.op == "CONST":
            if inst.arg is None:
                nones.update(inst.defs)
        elif inst.op == "CALL" and inst.uses[0] == exit_temp:
            if len(inst.uses) != 4 or not all(temp in nones for temp in inst.uses[1:]) or inst.arg:
                return None
            return _with_await(block.insts, place, is_async)
        elif inst.op not in ("POP", "POP_EXCEPT", "MOVE"):
            return None
    return None


def _with_await(insts: list[Inst], place: int, is_async: bool) -> list[Inst] | None:
    operations = [insts[place]]
    rest = [inst for inst in insts[place + 1 : place + 6] if inst.op != "CONST"]
    if is_async:
        if [inst.op for inst in rest[:2]] != ["GET_AWAITABLE", "YIELD_FROM"] or rest[0].uses != operations[0].defs:
            return None
        operations += rest[:2]
        rest = rest[2:]
    if not rest or rest[0].op != "POP" or rest[0].uses != operations[-1].defs:
        return None
    return [*operations, rest[0]]


def _after_suppression(regions: Regions, edge: Edge, exit_temp: int) -> int:
    """Return the block after a suppressed exception, past the bookkeeping of the handler."""
    split = regions.ways.split
    while True:
        block = regions.graph.block(edge.target)
        for place, inst in enumerate(block.insts):
            if inst.op not in ("POP", "POP_EXCEPT"):
                return split(block, place).index if place else block.index
            if inst.op == "POP" and inst.uses[0] == exit_temp:
                return split(block, place + 1).index
        if not isinstance(block.exit, Goto):
            return split(block, len(block.insts)).index
        edge = block.exit.edge
