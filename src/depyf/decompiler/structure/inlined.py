"""Inlined comprehensions: their loop is in the enclosing code.

Before: it = GET_ITER x; old = LOAD_FAST_CLEAR a; r = BUILD_LIST; then the loop; then STORE_FAST a old; all of it
        protected by a handler that gives `a` its old value back and raises again
After:  r = EXPR it, and a separate graph of the loop that returns r, as the function of a comprehension would
"""

from __future__ import annotations

import copy
from dataclasses import replace

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Edge, ForIter, Goto, Graph, Inst, Return
from depyf.decompiler.structure.regions.split import split_block

ITERATOR = ".0"
"""The name of the iterator in the separate graph of the loop."""
ITERATES = ("GET_ITER", "GET_AITER")
ADDS = frozenset({"LIST_APPEND", "SET_ADD", "MAP_ADD"})
DISPLAYS = {"BUILD_LIST": "<listcomp>", "BUILD_SET": "<setcomp>", "BUILD_MAP": "<dictcomp>"}


@dataclass(slots=True)
class Inlined:
    """A comprehension's loop.

    name: the function name of such a comprehension.
    graph: the loop as a separate graph.
    block: the block before the loop; `first` is the first block of the loop, `rest` the block after it.
    saved, cells: its own variables, and the captured ones among them.
    iterator: the iterator of the loop, or an iterable that `get_iter` converts after the display (3.15).
    """

    name: str
    graph: Graph
    block: Block
    first: int
    rest: Block
    iterator: int
    result: int
    saved: dict[int, str]
    cells: set[str]
    get_iter: Inst | None


@dataclass(slots=True)
class _Start:
    """The code before a loop: the saved variables, those with new cells, and the display that the loop fills."""

    last: Block
    display: Inst
    saved: dict[int, str]
    get_iter: Inst | None
    cells: set[str]


def starting_blocks(graph: Graph) -> list[Block]:
    """Return the blocks in which comprehensions begin, inner ones first; most save variables."""
    starting = {block.index for block in graph.live() if _saves_any(block)}
    if graph.code.name not in DISPLAYS.values():
        filled = {inst.uses[0] for block in graph.live() for inst in block.insts if inst.op in ADDS}
        filled.update(_never_filled(graph))
        starts = [_start(graph, graph.block(index)) for index in starting] if filled else []
        filled -= {start.display.defs[0] for start in starts if start is not None}
        starting |= {block.index for block in graph.live() if filled and _display(block, filled) is not None}
    return [graph.block(index) for index in postorder(graph) if index in starting] if starting else []


def _never_filled(graph: Graph) -> list[int]:
    """Return the displays of comprehensions whose condition is constantly false: `[a for b.c in d if 0]`.

    In a `for` statement, there is nothing between the iterator and the loop.
    """
    displays: list[int] = []
    for block in graph.live():
        last = block.insts[-2:]
        if len(last) == 2 and isinstance(block.exit, Goto):
            display, maker = (last[1], last[0]) if last[1].op in DISPLAYS else (last[0], last[1])
            if display.op in DISPLAYS and maker.op in ITERATES and not display.uses:
                head = graph.block(block.exit.edge.target)
                if maker.uses != display.defs and _iterator(head) == maker.defs[0]:
                    displays += display.defs
    return displays


def _saves_any(block: Block) -> bool:
    return any(inst.op == "LOAD_FAST_CLEAR" for inst in block.insts)


def _display(block: Block, filled: set[int]) -> Inst | None:
    """Return the display at the end of a block that is filled elsewhere."""
    for place in range(max(0, len(block.insts) - 2), len(block.insts)):
        inst = block.insts[place]
        if inst.op in DISPLAYS and inst.defs[0] in filled and not inst.uses and _ends(block.insts[place + 1 :]):
            return inst if isinstance(block.exit, Goto) else None
    return None


def find_inlined(graph: Graph, block: Block) -> Inlined | None:
    """Return the last comprehension whose saving of variables begins in a block, or None."""
    start = _start(graph, block)
    if start is None:
        return None
    assert isinstance(start.last.exit, Goto)
    first = start.last.exit.edge.target
    rest = _rest(graph, start)
    if rest is None:
        return None
    region = _region(graph, first, rest, start.last.handler)
    iterator = _iterator(graph.block(first))
    assert iterator is not None
    if not _is_closed(graph, region, {start.last.index}, rest):
        return None
    inner = _alone(graph, region, first, rest.index, iterator, start)
    result = start.display.defs[0]
    source = start.get_iter.uses[0] if start.get_iter is not None else iterator
    name = DISPLAYS[start.display.op]
    return Inlined(name, inner, block, first, rest, source, result, start.saved, start.cells, start.get_iter)


def replace_inlined(graph: Graph, inlined: Inlined, inst: Inst) -> None:
    """Replace a comprehension's loop by one operation.

    Args:
        graph: the graph around the comprehension, changed in place.
        inlined: the comprehension's loop.
        inst: the operation that makes the value of the comprehension.
    """
    block, rest = inlined.block, inlined.rest
    block.insts = [other for other in block.insts if not _saves(other, inlined)]
    block.insts.append(inst)
    for other in graph.live():
        other.insts = [
            operation
            for operation in other.insts
            if operation.op != "STORE_FAST" or operation.uses[0] not in inlined.saved
        ]
    block.exit = Goto(Edge(rest.index, []))
    if not rest.insts and isinstance(rest.exit, Goto):
        # It contains nothing any more that the handler of the loop could protect. The value may leave a `with` next.
        rest.handler = block.handler
    graph.temps = inlined.graph.temps
    _prune(graph)


def _saves(inst: Inst, inlined: Inlined) -> bool:
    if inst is inlined.get_iter:
        return True
    if inst.op == "MAKE_CELL":
        # The variable of a comprehension is another slot than a free variable of its name (`bytecode/normalise.apart`).
        return inst.arg in {name.partition(".")[0] for name in inlined.saved.values()}
    return bool(inst.defs) and (inst.defs[0] in inlined.saved or inst.defs[0] == inlined.result)


def _bare_start(block: Block) -> _Start | None:
    display = _display(block, {inst.defs[0] for inst in block.insts[-2:] if inst.op in DISPLAYS})
    get_iter = block.insts[-1] if block.insts[-1] is not display else None
    return _Start(block, display, {}, get_iter, set()) if display is not None else None


def _start(graph: Graph, block: Block) -> _Start | None:
    if not _saves_any(block):
        return _bare_start(block)
    places = [place for place, inst in enumerate(block.insts) if inst.op in ("LOAD_FAST_CLEAR", "MAKE_CELL")]
    first = next(place for place in reversed(places) if block.insts[place].op == "LOAD_FAST_CLEAR")
    while first - 1 in places:
        first -= 1
    saved: dict[int, str] = {}
    cells: set[str] = set()
    insts = block.insts[first:]
    while True:
        for place, inst in enumerate(insts):
            if inst.op == "LOAD_FAST_CLEAR":
                saved[inst.defs[0]] = str(inst.arg)
            elif inst.op in DISPLAYS and not inst.uses and _ends(insts[place + 1 :]):
                get_iter = insts[-1] if insts[-1] is not inst else None
                return _Start(block, inst, saved, get_iter, cells) if isinstance(block.exit, Goto) else None
            elif inst.op == "MAKE_CELL":
                cells.add(str(inst.arg))
            else:
                return None
        if not isinstance(block.exit, Goto):
            return None
        block = graph.block(block.exit.edge.target)
        insts = block.insts


def _ends(insts: list[Inst]) -> bool:
    """Return whether a display is followed by its loop, or only by the making of the iterator."""
    return all(inst.op in ITERATES for inst in insts)


def _rest(graph: Graph, start: _Start) -> Block | None:
    """Return the block after the loop; it, or a direct successor, restores the variables."""
    assert isinstance(start.last.exit, Goto)
    head = graph.block(start.last.exit.edge.target)
    if _iterator(head) is None:
        return None
    rest = graph.block(head.exit.done.target) if isinstance(head.exit, ForIter) else _behind_async(graph, head)
    return rest if rest is not None and set(start.saved) <= _restored(graph, rest) else None


def _behind_async(graph: Graph, head: Block) -> Block | None:
    """Return the block after an asynchronous loop, or None."""
    end = graph.block(graph.handlers[head.handler].target) if head.handler >= 0 else head
    return split_block(graph, end, 1) if [inst.op for inst in end.insts[:1]] == ["END_ASYNC_FOR"] else None


def _restored(graph: Graph, rest: Block) -> set[int]:
    """Return the values stored in a block and its direct successors."""
    stored: set[int] = set()
    seen: set[int] = set()
    while rest.index not in seen:
        seen.add(rest.index)
        stored |= {inst.uses[0] for inst in rest.insts if inst.op == "STORE_FAST"}
        if not isinstance(rest.exit, Goto):
            break
        rest = graph.block(rest.exit.edge.target)
    return stored


def _region(graph: Graph, first: int, rest: Block, outer: int) -> set[int]:
    """Return the blocks of the loop; `outer` protects all of it."""
    seen = {first}
    work = [first]
    while work:
        block = graph.block(work.pop())
        targets = [edge.target for edge in block.exit.edges()]
        if block.handler not in (outer, -1) and block.handler != rest.handler:
            targets.append(graph.handlers[block.handler].target)
        for target in targets:
            if target not in seen and target != rest.index:
                seen.add(target)
                work.append(target)
    return seen


def _is_closed(graph: Graph, region: set[int], before: set[int], rest: Block) -> bool:
    """Return whether the loop is entered and left at one place, with only its result."""
    if rest.phis:
        return False
    for block in graph.live():
        for edge in block.exit.edges():
            if edge.target in region and block.index not in region | before:
                return False
            if edge.target == rest.index and block.index not in region:
                return False
    return True


def _iterator(head: Block) -> int | None:
    if isinstance(head.exit, ForIter) and not head.insts:
        return head.exit.iterator
    return next((inst.uses[0] for inst in head.insts[:1] if inst.op == "GET_ANEXT"), None)


def _alone(graph: Graph, region: set[int], first: int, rest: int, iterator: int, start: _Start) -> Graph:
    """Return the loop as a separate graph: it begins with the display, and returns it."""
    outer = start.last.handler
    blocks: list[Block | None] = [
        _copy(block, outer) if block is not None and block.index in region else None for block in graph.blocks
    ]
    alone = Graph(graph.code, blocks, list(graph.handlers), graph.temps, places=graph.places, guarded=graph.guarded)
    alone.negates, alone.is_kept = graph.negates, graph.is_kept
    _load_plainly(alone, set(start.saved.values()) - start.cells)
    load = Inst("LOAD_FAST", ITERATOR, [], [iterator], start.display.line, start.display.offset)
    alone.blocks[0] = Block(0, [start.display, load], Goto(Edge(first, [])), -1)
    end = alone.new_block([], Return(start.display.defs[0]), -1, [])
    for block in alone.live():
        for edge in block.exit.edges():
            if edge.target == rest:
                edge.target = end.index
    return alone


def _load_plainly(graph: Graph, variables: set[str]) -> None:
    """Turn loads of these variables of a loop into loads of values, because they have no cells there.

    Variables of the same name in the enclosing code may have cells.
    """
    for block in graph.live():
        block.insts = [
            replace(inst, op="LOAD_FAST") if inst.op == "LOAD_CLOSURE" and inst.arg in variables else inst
            for inst in block.insts
        ]


def _copy(block: Block, outer: int) -> Block:
    handler = -1 if block.handler == outer else block.handler
    insts, exit_ = list(block.insts), copy.deepcopy(block.exit)
    return Block(block.index, insts, exit_, handler, list(block.phis), list(block.stack), block.offset)


def _prune(graph: Graph) -> None:
    """Remove unreachable blocks."""
    reached = {0}
    work = [0]
    while work:
        block = graph.block(work.pop())
        targets = [edge.target for edge in block.exit.edges()]
        if block.handler >= 0:
            targets.append(graph.handlers[block.handler].target)
        for target in targets:
            if target not in reached:
                reached.add(target)
                work.append(target)
    graph.blocks = [block if number in reached else None for number, block in enumerate(graph.blocks)]
