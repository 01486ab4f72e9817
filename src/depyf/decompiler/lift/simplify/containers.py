"""Remove lists and tuples that are built only to be unpacked.

Before: v3 = BUILD_LIST v1 v2; v5 = LOAD_SUBSCR v3 0; v6 = CALL_EX f v3
After:  v1 in the place of v5; v6 = CALL f v1 v2

A container is *fresh* from its creation until an operation that is unknown here uses it. Until then its contents are
followed, including aliases. If it escapes it is built, once: at its creation if it still has the same contents, else
where it escapes.
"""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.dominators import reverse_postorder
from depyf.decompiler.graph.liveness import alive_at_entry
from depyf.decompiler.graph.successors import successors
from depyf.decompiler.graph.tac import Block, Graph, Inst
from depyf.decompiler.lift.phis import rename, rename_block
from depyf.decompiler.steps import present, step

ATTEMPTS = 8
"""The most attempts; each one leaves out the containers that could not be followed."""

KNOWN = frozenset(
    {
        "BUILD_LIST",
        "BUILD_TUPLE",
        "LOAD_SUBSCR",
        "STORE_SUBSCR",
        "DELETE_SUBSCR",
        "LIST_EXTEND",
        "LIST_APPEND",
        "LIST_TO_TUPLE",
        "UNPACK_SEQUENCE",
        "CALL_EX",
        "POP",
    }
)


@dataclass(slots=True)
class _Fresh:
    """A container that has not escaped: its contents, and whether it is a tuple."""

    items: list[int]
    is_tuple: bool

    def copy(self) -> _Fresh:
        """Return a copy that changes independently."""
        return _Fresh(list(self.items), self.is_tuple)


Heap = dict[int, _Fresh]
"""The known state at one place: the fresh containers by temporary."""


def evaluate_containers(graph: Graph) -> None:
    """Remove the fresh containers of a graph, as far as they can be followed.

    Containers that cannot be followed to their last use are built at their creation, and the others are tried again.
    """
    kept: set[int] = set()
    alive: dict[int, int] = {}
    for _ in range(ATTEMPTS):
        evaluator = _Evaluator(graph, kept, alive)
        lost = evaluator.run()
        if not lost:
            evaluator.write()
            return
        kept |= lost
    all_made = {temp for block in graph.live() for inst in block.insts for temp in inst.defs}
    evaluator = _Evaluator(graph, all_made, alive)
    evaluator.run()
    evaluator.write()


class _Evaluator:
    """Follows the containers through every block; `kept` are those that are built at their creation.

    births: the creation of each container; unbuilt: the creations without a build.
    late: the containers that are built elsewhere, with their contents there.
    alive: the live temporaries at the entry of each block, computed on demand, once for all attempts.

    A container stays fresh at a merge if all paths have it with the same items. A container that a handler reads is
    built, because it may have changed before the handler runs. One that is built on several paths has its own temporary
    on each.
    """

    def __init__(self, graph: Graph, kept: set[int], alive: dict[int, int]) -> None:
        self.graph = graph
        self.kept = kept
        self.same: dict[int, int] = {}
        self.values: dict[int, object] = {}
        self.unknown = object()
        self.lost: set[int] = set()
        self.births: dict[int, Inst] = {}
        self.unbuilt: set[int] = set()
        self.late: set[int] = set()
        self.result: dict[int, list[Inst]] = {}
        self.alive = alive
        self.handled = {handler.target for handler in graph.handlers}

    def run(self) -> set[int]:
        """Follow the containers; return those that could not be followed."""
        order = reverse_postorder(successors(self.graph), 0)
        before: dict[int, list[int]] = {}
        for index in order:
            for edge in self.graph.block(index).exit.edges():
                before.setdefault(edge.target, []).append(index)
        entry: dict[int, Heap] = {}
        leaving: dict[int, Heap] = {}
        to_compare: list[tuple[int, int]] = []
        for index in order:
            come_from = before.get(index, ())
            known = [] if index in self.handled else [source for source in come_from if source in leaving]
            to_compare += [(index, source) for source in come_from if source not in known]
            entry[index] = self._meet(index, [leaving[source] for source in known]) if known else {}
            leaving[index] = {temp: fresh.copy() for temp, fresh in entry[index].items()}
            self._block(self.graph.block(index), leaving[index])
        for index, source in to_compare:
            self._agree(index, entry[index], leaving[source])
        for index, temps in self._made_again().items():
            for edge in self.graph.block(index).exit.edges():
                self.lost |= self._wanted(edge.target, {temp: _Fresh([], False) for temp in temps})
        return self.lost

    def _made_again(self) -> dict[int, list[int]]:
        """Return by block the containers that are built there and also in an earlier block, for another path."""
        seen: set[int] = set()
        again: dict[int, list[int]] = {}
        for index, new_insts in self.result.items():
            temps = [temp for inst in new_insts if id(inst) not in self.unbuilt for temp in inst.defs]
            if not seen.isdisjoint(temps):
                again[index] = [temp for temp in temps if temp in seen]
            seen.update(temps)
        return again

    def write(self) -> None:
        """Write the results into the graph."""
        again = self._made_again()
        for index, new_insts in self.result.items():
            insts = [inst for inst in new_insts if id(inst) not in self.unbuilt]
            self._announce(self.graph.block(index), insts)
            self.graph.block(index).insts = insts
        rename(self.graph, {temp: self._find(temp) for temp in self.same})
        for index, temps in again.items():
            rename_block(self.graph.block(index), {temp: self.graph.new_temp() for temp in temps})

    def _announce(self, block: Block, insts: list[Inst]) -> None:
        """Announce the changes to a block."""
        if present() is None:
            return
        kept = {temp for inst in insts for temp in inst.defs}
        for inst in block.insts:
            for temp in set(inst.defs) - kept:
                if temp in self.same:
                    step("block {}: v{} is v{}, which it was taken from", block.index, temp, self._find(temp))
                else:
                    step("block {}: v{} is only unpacked, so it is not built", block.index, temp)
        if len(insts) != len(block.insts) or any(new.op != old.op for new, old in zip(insts, block.insts)):
            step("block {}: {} operations become {}", block.index, len(block.insts), len(insts))

    def _find(self, temp: int) -> int:
        while temp in self.same:
            temp = self.same[temp]
        return temp

    def _meet(self, index: int, heaps: list[Heap]) -> Heap:
        """Return the fresh containers where these paths merge, and lose those that only some paths have."""
        for heap in heaps[1:]:
            self._agree(index, heaps[0], heap)
        wanted = self._wanted(index, heaps[0])
        return {temp: fresh.copy() for temp, fresh in heaps[0].items() if temp in wanted}

    def _agree(self, index: int, left: Heap, right: Heap) -> None:
        """Lose containers that a block needs and that differ between two states."""
        for temp in self._wanted(index, left) | self._wanted(index, right):
            if left.get(temp) != right.get(temp):
                self.lost.add(temp)

    def _wanted(self, index: int, heap: Heap) -> set[int]:
        """Return the containers that are still read in the block or later, and those nested in them."""
        if not heap:
            return set()
        if not self.alive:
            self.alive.update(alive_at_entry(self.graph))
        alive = self.alive[index]
        work = [temp for temp in heap if alive >> temp & 1]
        work += [container for temp in self.same if alive >> temp & 1 and (container := self._find(temp)) in heap]
        wanted: set[int] = set()
        while work:
            temp = work.pop()
            if temp in heap and temp not in wanted:
                wanted.add(temp)
                work.extend(self._find(item) for item in heap[temp].items)
        return wanted

    def _block(self, block: Block, state: Heap) -> None:
        out: list[Inst] = []
        if block.handler >= 0:
            self.lost |= self._wanted(self.graph.handlers[block.handler].target, state)
        replaced = self.same.keys()
        for inst in block.insts:
            uses = inst.uses
            if not replaced.isdisjoint(uses):
                uses = [self._find(temp) for temp in uses]
            if inst.op == "CONST":
                self.values[inst.defs[0]] = inst.arg
                out.append(inst)
            elif inst.op == "BUILD_SLICE" and all(temp in self.values for temp in uses):
                self.values[inst.defs[0]] = slice(*(self.values[temp] for temp in uses))
                out.append(inst)
            elif inst.op not in KNOWN or not self._evaluate(inst, uses, state, out):
                if not state.keys().isdisjoint(uses):
                    self._escape(inst, uses, state, out)
                out.append(Inst(inst.op, inst.arg, uses, inst.defs, inst.line, inst.offset))
        for temp in [*block.exit.reads(), *(arg for edge in block.exit.edges() for arg in edge.args)]:
            self._build(self._find(temp), state, out, None)
        self.result[block.index] = out

    def _escape(self, inst: Inst, uses: list[int], state: Heap, out: list[Inst]) -> None:
        for temp in uses:
            self._build(temp, state, out, inst)

    def _build(self, temp: int, state: Heap, out: list[Inst], near: Inst | None) -> None:
        """Build a fresh container and, before it, its nested ones; it is not fresh any more."""
        work = [(temp, False)]
        while work:
            present, is_ready = work.pop()
            if is_ready:
                self._build_one(present, state.pop(present), out, near)
            elif present in state:
                work.append((present, True))
                work.extend((item, False) for item in state[present].items)

    def _build_one(self, temp: int, fresh: _Fresh, out: list[Inst], near: Inst | None) -> None:
        """Build a container at its creation if its contents have not changed since, else here."""
        birth = self.births.get(temp)
        if birth is not None and birth.uses == fresh.items and not self.late.intersection(fresh.items):
            self.unbuilt.discard(id(birth))
            return
        self.late.add(temp)
        op = "BUILD_TUPLE" if fresh.is_tuple else "BUILD_LIST"
        line = near.line if near is not None else None
        out.append(Inst(op, len(fresh.items), list(fresh.items), [temp], line, near.offset if near else -1))

    # -- operations that are evaluated ---------------------------------------------------

    def _evaluate(self, inst: Inst, uses: list[int], state: Heap, out: list[Inst]) -> bool:
        """Evaluate an operation on fresh containers; return False for any other operation."""
        match inst.op:
            case "BUILD_LIST" | "BUILD_TUPLE":
                if inst.defs[0] in self.kept:
                    return False
                birth = self.births[inst.defs[0]] = Inst(inst.op, inst.arg, uses, inst.defs, inst.line, inst.offset)
                self.unbuilt.add(id(birth))
                out.append(birth)
                state[inst.defs[0]] = _Fresh(list(uses), inst.op == "BUILD_TUPLE")
                return True
            case "POP":
                return uses[0] in state
            case "CALL_EX":
                return self._call_ex(inst, uses, state, out)
            case "LIST_TO_TUPLE":
                return self._new(inst, state, list(self._items(uses[0], state) or ()), uses[0] in state, True)
            case "LIST_EXTEND":
                return self._extend(uses, state)
            case "LIST_APPEND":
                if uses[0] not in state or self._holds(uses[1:], uses[0], state):
                    return False
                state[uses[0]].items.append(uses[1])
                return True
            case "UNPACK_SEQUENCE":
                items = self._items(uses[0], state)
                if items is None or len(items) != len(inst.defs):
                    return False
                self.same.update(zip(inst.defs, items))
                return True
            case _:
                return self._subscript(inst, uses, state)

    def _holds(self, temps: list[int], container: int, state: Heap) -> bool:
        """Return whether a container is among these, or nested in one of them.

        No order of builds makes a list that contains itself.
        """
        work, seen = list(temps), set()
        while work:
            temp = work.pop()
            if temp == container:
                return True
            if temp in state and temp not in seen:
                seen.add(temp)
                work.extend(state[temp].items)
        return False

    def _new(self, inst: Inst, state: Heap, items: list[int], known: bool, is_tuple: bool) -> bool:
        if not known or inst.defs[0] in self.kept:
            return False
        state[inst.defs[0]] = _Fresh(items, is_tuple)
        return True

    def _items(self, temp: int, state: Heap) -> list[int] | None:
        fresh = state.get(temp)
        return fresh.items if fresh is not None else None

    def _extend(self, uses: list[int], state: Heap) -> bool:
        target, source = state.get(uses[0]), state.get(uses[1])
        if target is None or source is None or self._holds(source.items, uses[0], state):
            return False
        target.items.extend(list(source.items))
        return True

    def _call_ex(self, inst: Inst, uses: list[int], state: Heap, out: list[Inst]) -> bool:
        items = self._items(uses[1], state)
        if items is None or inst.arg:
            return False
        for temp in [uses[0], *items]:
            self._build(temp, state, out, inst)
        out.append(Inst("CALL", (), [uses[0], *items], inst.defs, inst.line, inst.offset))
        return True

    def _subscript(self, inst: Inst, uses: list[int], state: Heap) -> bool:
        container, key = (uses[1], uses[2]) if inst.op == "STORE_SUBSCR" else (uses[0], uses[1])
        fresh = state.get(container)
        index = self.values.get(key, self.unknown)
        if fresh is None or type(index) not in (int, slice):
            return False
        if type(index) is int and not -len(fresh.items) <= index < len(fresh.items):
            return False
        if inst.op == "LOAD_SUBSCR":
            if isinstance(index, int):
                self.same[inst.defs[0]] = fresh.items[index]
                return True
            assert isinstance(index, slice)
            return self._new(inst, state, fresh.items[index], True, fresh.is_tuple)
        return not fresh.is_tuple and self._change(inst, uses, index, fresh, state)

    def _change(self, inst: Inst, uses: list[int], index: object, fresh: _Fresh, state: Heap) -> bool:
        """Store or delete an item or a slice."""
        if inst.op == "DELETE_SUBSCR":
            del fresh.items[index]  # type: ignore[arg-type]
            return True
        if isinstance(index, int):
            if self._holds(uses[:1], uses[1], state):
                return False
            fresh.items[index] = uses[0]
            return True
        assert isinstance(index, slice)
        items = self._items(uses[0], state)
        if items is None or index.step not in (None, 1) or self._holds(items, uses[1], state):
            return False
        fresh.items[index] = list(items)
        return True


__all__ = ["evaluate_containers"]
