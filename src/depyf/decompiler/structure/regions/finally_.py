"""`try ... finally`.

Before: the handler runs the body of `finally` and raises again; every other exit of the protected body runs a copy of
        the `finally` body
After:  the copies are gone, and the exits lead to where the copies led

A copy is recognised by walking it and the handler's code in step. Both have the same operations on corresponding
values, and the same branches, until the handler re-raises. There the copy continues.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from depyf.decompiler.graph.tac import (
    Block,
    Branch,
    Edge,
    ForIter,
    Goto,
    Graph,
    Inst,
    Leave,
    Raise,
    Reraise,
    Return,
    Stop,
    operation_key,
    same_operation,
)
from depyf.decompiler.structure.regions.table import Region, Regions

DROPS = ("POP", "POP_EXCEPT")
REACHED = "__conditional_annotations__"
Place = tuple[int, int]
"""A block and the number of an operation in it."""
Dropped = tuple[int, int]
"""The value that a `finally` body drops, perhaps a phi there, and the value that an edge passes for it."""


def strip(regions: Regions, region: Region) -> bool:
    """Remove the copies of the `finally` body; return False, and change nothing, if one is missing."""
    graph = regions.graph
    entry = graph.handlers[region.handler]
    body = regions.body(region.handler)
    matches: list[tuple[Block, Edge, Place]] = []
    ends: list[tuple[Block, Edge, Dropped | None]] = []
    copies: set[int] = set()
    returns: dict[tuple[int, object], Place] = {}
    joined: list[list[tuple[Place, int]]] = []
    for block, edge in regions.exits(body):
        matcher = _Matcher(regions, region.handler)
        if not matcher.match((entry.target, 1), (edge.target, 0)):
            return False
        if matcher.after is None:
            ends.append((block, edge, _given_up(matcher, body, edge)))
        else:
            returned = matcher.returned()
            after = matcher.after if returned is None else returns.setdefault(returned, matcher.after)
            matches.append((block, edge, after))
        copies |= matcher.visited
        joined = joined or list(matcher.joined.values())
    for tails in joined:
        _join_tails(regions, tails)
    _redirect(regions, matches, region.handler, copies)
    _stop(regions, ends, region.handler)
    regions.ways.prune(copies)
    return True


def _redirect(
    regions: Regions, matches: list[tuple[Block, Edge, Place]], handler: int, copies: set[int]
) -> None:
    """Redirect each edge to the place after its copy; its block then belongs there too.

    A `break` or `continue` that runs a copy is in the protected body.
    """
    graph, ways = regions.graph, regions.ways
    targets: dict[Place, Block] = {}
    cuts: dict[int, list[int]] = {}
    for _, _, (index, number) in matches:
        cuts.setdefault(index, []).append(number)
    for index, numbers in cuts.items():
        for number in sorted(set(numbers), reverse=True):
            block = graph.block(index)
            target = targets[index, number] = ways.split(block, number) if number else block
            if isinstance(target.exit, Leave) and target.exit.explicit and target.handler == regions.parent[handler]:
                target.handler = handler
                ways.note(target)
    taken = {place: _taken([edge for _, edge, other in matches if other == place], place, graph) for place in targets}
    for block, edge, place in matches:
        target = targets[place]
        if _is_only_reached(target, copies, graph):
            target.phis = taken[place]
        values = _handed(edge, place, graph)
        edge.target, edge.args = target.index, [values[phi] for phi in target.phis]
        ways.note(block)


def _taken(edges: list[Edge], place: Place, graph: Graph) -> list[int]:
    """Return the joined values that all these edges bring through their copies to a place."""
    return sorted(set.intersection(*[set(_handed(edge, place, graph)) for edge in edges]))


def _handed(edge: Edge, place: Place, graph: Graph) -> dict[int, int]:
    """Return what an edge and the gotos after it hand over on the way to a place, by the joined value."""
    handed: dict[int, int] = {}
    seen: set[int] = set()
    while edge.target not in seen:
        seen.add(edge.target)
        block = graph.block(edge.target)
        handed.update([(phi, handed.get(arg, arg)) for phi, arg in zip(block.phis, edge.args)])
        if block.index == place[0] or not isinstance(block.exit, Goto):
            break
        edge = block.exit.edge
    return handed


def _is_only_reached(target: Block, copies: set[int], graph: Graph) -> bool:
    """Return whether only copies of the `finally` body lead to a block."""
    return not target.phis and all(
        block.index in copies for block in graph.live() for edge in block.exit.edges() if edge.target == target.index
    )


def _join_tails(regions: Regions, tails: list[tuple[Place, int]]) -> None:
    """Join the ends of two arms in a handler, as in its copies: the handler re-raises after both.

    Before: 2: v2 = a; v3 = CALL v2; Reraise      4: v4 = b; v5 = CALL v4; Reraise
    After:  2: v2 = a -> 6 (v2)      4: v4 = b -> 6 (v4)      6: v3 = CALL phi; Reraise

    Args:
        tails: where each begins, and the value that it takes from its arm.
    """
    graph, ways = regions.graph, regions.ways
    blocks = [graph.block(index) for (index, _), _ in tails]
    if len(blocks) < 2 or not all(isinstance(block.exit, Reraise) for block in blocks):
        return
    (_, number), value = tails[0]
    first, phi = blocks[0], graph.new_temp()
    rest = first.insts[number:]
    insts = [replace(inst, uses=[phi if temp == value else temp for temp in inst.uses]) for inst in rest]
    shared = graph.new_block(insts, first.exit, first.handler, [*first.stack, phi])
    shared.phis = [phi]
    ways.note(shared)
    for block, ((_, start), taken) in zip(blocks, tails):
        block.insts, block.exit = block.insts[:start], Goto(Edge(shared.index, [taken]))
        ways.note(block)


def _given_up(matcher: _Matcher, body: set[int], edge: Edge) -> Dropped | None:
    """Return the value of a `return` in the protected body that a `finally` body drops, or leaves, or None."""
    target = matcher.graph.block(edge.target)
    blocks = [matcher.graph.block(index) for index in body]
    iterators = {block.exit.iterator for block in blocks if isinstance(block.exit, ForIter)}
    inner = {temp for block in blocks for temp in (*block.phis, *(temp for inst in block.insts for temp in inst.defs))}
    passed = dict(zip(target.phis, edge.args))
    values = [(temp, passed.get(temp, temp)) for temp in matcher.dropped.union(target.stack)]
    given_up = [(temp, value) for temp, value in values if value in inner and value not in iterators]
    return given_up[0] if len(given_up) == 1 else None


def _stop(regions: Regions, ends: list[tuple[Block, Edge, Dropped | None]], handler: int) -> None:
    """Make edges unreachable, because the `finally` body never ends by itself; a dropped value was to be returned."""
    graph, entry = regions.graph, regions.graph.handlers[handler]
    around = [temp for temp in graph.block(entry.target).stack if temp not in (entry.exc, entry.lasti)]
    stops: dict[int, Block] = {}
    for block, edge, dropped in ends:
        if dropped is None:
            stop = stops[-1] = stops.get(-1) or graph.new_block([], Stop(), -1, around)
            stop.handler = regions.parent.get(block.handler, -1)
            edge.target, edge.args = stop.index, []
        else:
            phi, value = dropped
            if phi not in stops:
                line = next((inst.line for inst in block.insts if value in inst.defs), None)
                stops[phi] = graph.new_block([], Return(phi, line), handler, around)
                stops[phi].phis = [phi] if phi != value else []
            edge.target, edge.args = stops[phi].index, [value] if phi != value else []
        regions.ways.note(block)
    for stop in stops.values():
        regions.ways.note(stop)


class _Matcher:
    """Walks a handler and a possible copy of its code in step."""

    def __init__(self, regions: Regions, handler: int) -> None:
        self.regions = regions
        self.graph = regions.graph
        self.exc = {self.graph.handlers[handler].exc}
        start = self.graph.block(self.graph.handlers[handler].target)
        self.saved = [temp for inst in start.insts[:1] for temp in inst.defs]
        self.outer = regions.parent.get(handler, -1)
        self.values: dict[int, int] = {}
        self.copied: set[int] = set()
        self.visited: set[int] = set()
        self.seen: dict[Place, Place] = {}
        self.work: list[tuple[Place, Place]] = []
        self.after: Place | None = None
        self.handlers: dict[int, int] = {}
        self.joined: dict[int, list[tuple[Place, int]]] = {}
        self.taken: set[tuple[Place, int]] = set()
        self.dropped: set[int] = set()

    def match(self, handler: Place, copy: Place) -> bool:
        """Return whether it is a copy; `after` is where it continues, None if the code never ends by itself."""
        self.work.append((handler, copy))
        while self.work:
            handler_place, copy_place = self.work.pop()
            handler_place = self._skip(handler_place)
            if handler_place in self.seen:
                if self.seen[handler_place] != self._skip(copy_place):
                    return False
                continue
            if not self._step(handler_place, copy_place):
                return False
        return True

    def _skip(self, place: Place) -> Place:
        """Skip the ends of blocks that only lead to another, and operations without effect."""
        index, number = place
        hops = 0
        while hops < len(self.graph.blocks):
            block = self.graph.block(index)
            self.visited.add(index)
            while number < len(block.insts) and self._is_nothing(block.insts[number]):
                number += 1
            if number < len(block.insts) or not isinstance(block.exit, Goto) or block.exit.edge.args:
                return index, number
            index, number = block.exit.edge.target, 0
            hops += 1
        return index, number

    def _joining(self, place: Place) -> Edge | None:
        """Return the edge with which a block ends if it passes a value to a merge, or None."""
        block = self.graph.block(place[0])
        ends = place[1] >= len(block.insts) and isinstance(block.exit, Goto) and block.exit.edge.args
        return block.exit.edge if ends else None  # type: ignore[union-attr]  # so says `ends`

    def _join(self, left: Place, right: Place, first: Edge | None, second: Edge | None) -> bool:
        """Continue at a merge: the values passed there must correspond, if both pass one."""
        if first is not None and second is not None and len(first.args) == len(second.args):
            if not all(map(self._same, first.args, second.args)):
                return False
            return self._edges([(first, second)])
        if first is None:
            assert second is not None
            if (left, second.target) in self.taken:
                return False
            self.taken.add((left, second.target))
            self._take_joined(left, second)
            del self.seen[left]
        onward = [(edge.target, 0) if edge is not None else place for edge, place in ((first, left), (second, right))]
        self.work.append((onward[0], onward[1]))
        return True

    def _take_joined(self, place: Place, edge: Edge) -> None:
        """Map values of the handler to the copy's phis where the copy's paths merge: the handler has two ends."""
        renamed = dict(zip(edge.args, self.graph.block(edge.target).phis))
        for handler_value, copy_value in list(self.values.items()):
            if copy_value in renamed:
                self._pair([(handler_value, renamed[copy_value])])
                self.joined.setdefault(renamed[copy_value], []).append((place, handler_value))

    def _is_nothing(self, inst: Inst) -> bool:
        """Return whether an operation has no effect.

        POPs of values from the walked code count as effects; those of earlier values, as a `return` drops them, do not.
        """
        if inst.op == "POP":
            if inst.uses[0] in self.values or inst.uses[0] in self.copied:
                return False
            self.dropped.add(inst.uses[0])
            return True
        return inst.op == "MOVE" or (inst.op == "POP_EXCEPT" and inst.uses == self.saved)

    def _step(self, left: Place, right: Place) -> bool:
        block = self.graph.block(left[0])
        at_end = left[1] >= len(block.insts)
        if at_end and isinstance(block.exit, Reraise) and block.exit.exc in self.exc:
            return self._arrive(right)
        right = self._skip(right)
        self.seen[left] = right
        other = self.graph.block(right[0])
        if not self._same_handler(block.handler, other.handler):
            return False
        first, second = self._joining(left), self._joining(right)
        if first is not None or second is not None:
            return self._join(left, right, first, second)
        if at_end:
            return right[1] >= len(other.insts) and self._same_exit(block, other)
        if right[1] >= len(other.insts):
            return False
        if _is_mark(block.insts, left[1]) and _is_mark(other.insts, right[1]):
            self._pair(zip(block.insts[left[1]].defs, other.insts[right[1]].defs))
        elif not self._same_inst(block.insts[left[1]], other.insts[right[1]]):
            return False
        self.work.append(((left[0], left[1] + 1), (right[0], right[1] + 1)))
        return True

    def _arrive(self, place: Place) -> bool:
        """Record where the copy is left when the handler re-raises: it must be one place."""
        place = self._out_of_copy(place)
        if self.after is None:
            self.after = place
        return self._skip(self.after) == self._skip(place) or self._same_return(self.after, place)

    def returned(self) -> tuple[int, object] | None:
        """Return the handler and the variable if the code after the copy loads a variable and returns it, else None.

        A `return` in the protected body loads the variable before the copy. A load after the copy comes from one
        statement after the `try`, of which the compiler has written several copies.
        """
        assert self.after is not None
        here = self.graph.block(self.after[0])
        tail = self._tail(self.after)
        return (here.handler, tail) if isinstance(tail, tuple) and tail[0] == "LOAD_FAST" else None

    def _out_of_copy(self, place: Place) -> Place:
        """Skip the ends of blocks that are protected inside the `finally` body."""
        for _ in self.graph.blocks:
            block = self.graph.block(place[0])
            inside = block.handler in self.handlers.values()
            if not inside or place[1] < len(block.insts) or not isinstance(block.exit, Goto):
                break
            place = block.exit.edge.target, 0
        return place

    def _same_return(self, left: Place, right: Place) -> bool:
        """Return whether two places do the same: drop values and return a constant or variable, or re-raise."""
        tail = self._tail(left)
        return tail is not None and tail == self._tail(right)

    def _tail(self, place: Place) -> object:
        """Return the returned or re-raised value, or the target of a place that does nothing else; None otherwise."""
        index, number = self._skip(place)
        block = self.graph.block(index)
        if isinstance(block.exit, Reraise) and number == len(block.insts):
            return Reraise, block.exit.exc
        if isinstance(block.exit, Goto) and not block.exit.edge.args:
            words = [operation_key(inst) for inst in block.insts[number:] if inst.op not in DROPS]
            unbinds = [op.partition("_")[0] for op, _ in words] in ([], ["CONST", "STORE", "DELETE"])
            return (Goto, block.exit.edge.target, block.handler, tuple(words)) if unbinds else None
        if not isinstance(block.exit, Return):
            return None
        rest = [inst for inst in block.insts[number:] if inst.op not in DROPS]
        if any(inst.op not in ("CONST", "LOAD_FAST") for inst in rest):
            return None
        keys = {temp: operation_key(inst) for inst in rest for temp in inst.defs}
        return keys.get(block.exit.value, block.exit.value)

    def _same_inst(self, left: Inst, right: Inst) -> bool:
        if not same_operation(left, right) or len(left.uses) != len(right.uses) or len(left.defs) != len(right.defs):
            return False
        if any(self.values.get(a, a) != b for a, b in zip(left.uses, right.uses)):
            return False
        self._pair(zip(left.defs, right.defs))
        return True

    def _same_handler(self, left: int, right: int) -> bool:
        """Return whether handlers correspond: those around the `finally` are the same, those inside it are paired."""
        if left == right or self.handlers.get(left) == right:
            return True
        if left < 0 or right < 0 or left in self.handlers:
            return False
        if self.outer in (left, right):
            return False
        self.handlers[left] = right
        first, second = self.graph.handlers[left], self.graph.handlers[right]
        self._pair([(first.exc, second.exc), (first.lasti, second.lasti)])
        self.work.append(((first.target, 0), (second.target, 0)))
        return True

    def _same_exit(self, left: Block, right: Block) -> bool:
        match left.exit, right.exit:
            case Branch(a, a_true, a_false), Branch(b, b_true, b_false):
                return self._same(a, b) and self._edges([(a_true, b_true), (a_false, b_false)])
            case ForIter(a, a_value, a_body, a_done), ForIter(b, b_value, b_body, b_done):
                self._pair([(a_value, b_value)])
                return self._same(a, b) and self._edges([(a_body, b_body), (a_done, b_done)])
            case Leave(a_edge), Leave(b_edge):
                return self._edges([(a_edge, b_edge)])
            case Return(a), Return(b):
                return self._same(a, b)
            case Raise(a_list), Raise(b_list):
                return len(a_list) == len(b_list) and all(self._same(a, b) for a, b in zip(a_list, b_list))
            case Reraise(a), Reraise(b):
                return self._same(a, b)
            case (Stop(), Stop()) | (Goto(), Goto()):
                return True  # A `goto` that is not skipped leads to itself.
            case _:
                return False

    def _pair(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Pair values of the handler with values of the copy."""
        for handler_value, copy_value in pairs:
            self.values[handler_value] = copy_value
            self.copied.add(copy_value)

    def _same(self, left: int, right: int) -> bool:
        return self.values.get(left, left) == right

    def _onward(self, edge: Edge) -> Edge:
        """Return the edge with which an empty block passes values on, if an edge leads to one."""
        for _ in self.graph.blocks:
            block = self.graph.block(edge.target)
            if block.insts or not isinstance(block.exit, Goto) or not block.exit.edge.args:
                break
            self.visited.add(block.index)
            passed = dict(zip(block.phis, edge.args))
            onward = block.exit.edge
            edge = Edge(onward.target, [passed.get(temp, temp) for temp in onward.args])
        return edge

    def _edges(self, pairs: list[tuple[Edge, Edge]]) -> bool:
        for handler_edge, copy_edge in (map(self._onward, pair) for pair in pairs):
            self._pair(zip(self.graph.block(handler_edge.target).phis, self.graph.block(copy_edge.target).phis))
            self.work.append(((handler_edge.target, 0), (copy_edge.target, 0)))
        return True


def _is_mark(insts: list[Inst], place: int) -> bool:
    """Return whether an operation loads the number of a reached annotation: each copy has its own number."""
    if not 0 < place < len(insts) - 1 or insts[place].op != "CONST" or insts[place + 1].op != "SET_ADD":
        return False
    before, after = insts[place - 1], insts[place + 1]
    is_set = str(before.arg).partition(".")[0] == REACHED and before.defs == after.uses[:1]
    return is_set and after.uses[1:] == insts[place].defs


__all__ = ["strip"]
