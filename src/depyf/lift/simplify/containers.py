"""Evaluate lists and tuples away that are built only to be taken apart.

Before: v3 = BUILD_LIST v1 v2; v5 = LOAD_SUBSCR v3 0; v6 = CALL_EX f v3
After:  v1 in the place of v5; v6 = CALL f v1 v2

A container is *fresh* from where it is built until something other than the operations known here uses it. Until
then its contents are followed, aliases included. Where it escapes it is built, once, with what it holds by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from depyf.lift.phis import rename
from depyf.lift.tac import Block, Graph, Inst, edges, exit_uses
from depyf.trace import present, step

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
    """A container nobody else has seen: what it holds, and whether it is a tuple."""

    items: list[int]
    is_tuple: bool


@dataclass(slots=True)
class _State:
    """What is known at one place: the fresh containers by temporary."""

    heap: dict[int, _Fresh] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State({temp: _Fresh(list(fresh.items), fresh.is_tuple) for temp, fresh in self.heap.items()})


class _Giveup(Exception):
    """A container cannot be followed after all; it has to be built where it stands."""

    def __init__(self, temps: set[int]) -> None:
        self.temps = temps
        super().__init__()


def evaluate_containers(graph: Graph) -> None:
    """Evaluate the fresh containers of a graph, as far as they can be followed."""
    kept: set[int] = set()
    for _ in range(4):
        try:
            _Evaluator(graph, kept).run()
            return
        except _Giveup as giveup:
            kept |= giveup.temps
    everything = {temp for block in graph.live() for inst in block.insts for temp in inst.defs}
    _Evaluator(graph, everything).run()


class _Evaluator:
    def __init__(self, graph: Graph, kept: set[int]) -> None:
        self.graph = graph
        self.kept = kept
        self.same: dict[int, int] = {}
        self.values: dict[int, object] = {}
        self.unknown = object()
        self.result: dict[int, list[Inst]] = {}
        self.preds: dict[int, int] = {0: 1}
        self.handled = {handler.target for handler in graph.handlers}
        for block in graph.live():
            for edge in edges(block.exit):
                self.preds[edge.target] = self.preds.get(edge.target, 0) + 1

    def run(self) -> None:
        """Follow the containers through every block, then put the new operations in."""
        work: list[tuple[int, _State]] = [(0, _State())]
        work += [(target, _State()) for target in sorted(self.handled) if self.graph.blocks[target] is not None]
        seen: set[int] = set()
        while work:
            index, state = work.pop()
            if index in seen:
                continue
            seen.add(index)
            block = self.graph.block(index)
            self._block(block, state)
            for edge in edges(block.exit):
                if self.preds[edge.target] > 1 or edge.target in self.handled:
                    self._leave(block, edge.args, state)
                    work.append((edge.target, _State()))
                else:
                    work.append((edge.target, state.copy()))
        for index, insts in self.result.items():
            self._announce(self.graph.block(index), insts)
            self.graph.block(index).insts = insts
        rename(self.graph, self._closed())

    def _announce(self, block: Block, insts: list[Inst]) -> None:
        """Announce what is about to become of a block."""
        if present() is None:
            return
        kept = {temp for inst in insts for temp in inst.defs}
        for inst in block.insts:
            for temp in set(inst.defs) - kept:
                if temp in self.same:
                    step("block {}: v{} is v{}, which it was taken from", block.index, temp, self._find(temp))
                else:
                    step("block {}: v{} is only taken apart, and not built", block.index, temp)
        if len(insts) != len(block.insts) or any(one.op != two.op for one, two in zip(insts, block.insts)):
            step("block {}: {} operations become {}", block.index, len(block.insts), len(insts))

    def _closed(self) -> dict[int, int]:
        return {temp: self._find(temp) for temp in self.same}

    def _find(self, temp: int) -> int:
        while temp in self.same:
            temp = self.same[temp]
        return temp

    def _leave(self, block: Block, args: list[int], state: _State) -> None:
        """Control merges: what is fresh must not be needed there."""
        if state.heap:
            raise _Giveup(set(state.heap))

    def _block(self, block: Block, state: _State) -> None:
        out: list[Inst] = []
        for inst in block.insts:
            uses = [self._find(temp) for temp in inst.uses]
            if inst.op == "CONST":
                self.values[inst.defs[0]] = inst.arg
                out.append(inst)
            elif inst.op == "BUILD_SLICE" and all(temp in self.values for temp in uses):
                self.values[inst.defs[0]] = slice(*(self.values[temp] for temp in uses))
                out.append(inst)
            elif inst.op not in KNOWN or not self._evaluate(inst, uses, state, out):
                if inst.op == "POP" and uses[0] in state.heap:
                    continue
                self._escape(inst, uses, state, out)
                out.append(Inst(inst.op, inst.arg, uses, inst.defs, inst.line, inst.offset))
        for temp in [*exit_uses(block.exit), *(arg for edge in edges(block.exit) for arg in edge.args)]:
            self._build(self._find(temp), state, out, None)
        if block.handler >= 0 and state.heap:
            raise _Giveup(set(state.heap))
        self.result[block.index] = out

    def _escape(self, inst: Inst, uses: list[int], state: _State, out: list[Inst]) -> None:
        for temp in uses:
            self._build(temp, state, out, inst)

    def _build(self, temp: int, state: _State, out: list[Inst], near: Inst | None) -> None:
        """Build a fresh container, and before it those that it holds; it is not fresh any more."""
        order: list[int] = []
        work = [temp]
        while work:
            present = work.pop()
            if present in state.heap and present not in order:
                order.append(present)
                work.extend(state.heap[present].items)
        for present in reversed(order):
            fresh = state.heap.pop(present, None)
            if fresh is None:
                continue
            op = "BUILD_TUPLE" if fresh.is_tuple else "BUILD_LIST"
            line = near.line if near is not None else None
            out.append(Inst(op, len(fresh.items), list(fresh.items), [present], line, near.offset if near else -1))

    # -- operations that are evaluated ---------------------------------------------------

    def _evaluate(self, inst: Inst, uses: list[int], state: _State, out: list[Inst]) -> bool:
        """Evaluate an operation on fresh containers; return False if it is not one."""
        match inst.op:
            case "BUILD_LIST" | "BUILD_TUPLE":
                if inst.defs[0] in self.kept:
                    return False
                state.heap[inst.defs[0]] = _Fresh(uses, inst.op == "BUILD_TUPLE")
                return True
            case "POP":
                return uses[0] in state.heap
            case "CALL_EX":
                return self._call_ex(inst, uses, state, out)
            case "LIST_TO_TUPLE":
                return self._new(inst, state, list(self._items(uses[0], state) or ()), uses[0] in state.heap, True)
            case "LIST_EXTEND":
                return self._extend(uses, state)
            case "LIST_APPEND":
                if uses[0] not in state.heap:
                    return False
                state.heap[uses[0]].items.append(uses[1])
                return True
            case "UNPACK_SEQUENCE":
                items = self._items(uses[0], state)
                if items is None or len(items) != len(inst.defs):
                    return False
                self.same.update(zip(inst.defs, items))
                return True
            case _:
                return self._subscript(inst, uses, state)

    def _new(self, inst: Inst, state: _State, items: list[int], known: bool, is_tuple: bool) -> bool:
        if not known or inst.defs[0] in self.kept:
            return False
        state.heap[inst.defs[0]] = _Fresh(items, is_tuple)
        return True

    def _items(self, temp: int, state: _State) -> list[int] | None:
        fresh = state.heap.get(temp)
        return fresh.items if fresh is not None else None

    def _extend(self, uses: list[int], state: _State) -> bool:
        target, source = state.heap.get(uses[0]), state.heap.get(uses[1])
        if target is None or source is None or target.is_tuple:
            return False
        target.items.extend(list(source.items))
        return True

    def _call_ex(self, inst: Inst, uses: list[int], state: _State, out: list[Inst]) -> bool:
        items = self._items(uses[1], state)
        if items is None or inst.arg:
            return False
        for temp in [uses[0], *items]:
            self._build(temp, state, out, inst)
        out.append(Inst("CALL", (), [uses[0], *items], inst.defs, inst.line, inst.offset))
        return True

    def _subscript(self, inst: Inst, uses: list[int], state: _State) -> bool:
        container, key = (uses[1], uses[2]) if inst.op == "STORE_SUBSCR" else (uses[0], uses[1])
        fresh = state.heap.get(container)
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

    def _change(self, inst: Inst, uses: list[int], index: object, fresh: _Fresh, state: _State) -> bool:
        """Store or delete an item or a slice."""
        if inst.op == "DELETE_SUBSCR":
            del fresh.items[index]  # type: ignore[arg-type]
            return True
        if isinstance(index, int):
            fresh.items[index] = uses[0]
            return True
        items = self._items(uses[0], state)
        if items is None or not isinstance(index, slice) or index.step not in (None, 1):
            return False
        fresh.items[index] = list(items)
        return True


__all__ = ["evaluate_containers"]
