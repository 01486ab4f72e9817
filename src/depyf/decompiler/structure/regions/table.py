"""The protected regions of a graph: kinds, nesting, bodies and exits."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Edge, Goto, Graph, Inst, Reraise
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.ways import Ways, leaves_handler


class Kind(enum.Enum):
    """The kind of a handler, as its code shows."""

    EXCEPT = "except"
    FINALLY = "finally"
    WITH = "with"
    NAME = "name"  # unbinds the name of `except ... as name`
    ASYNC_FOR = "async for"
    CLEANUP = "cleanup"  # restores the exception handled before and raises again: implicit in source


TESTS = ("CHECK_EXC_MATCH", "CHECK_EG_MATCH")
"""Operations that test whether a clause matches the exception."""


@dataclass(slots=True)
class Region:
    """One handler: its kind, the region around it (-1: none), and its nesting depth."""

    handler: int
    kind: Kind
    parent: int
    depth: int


def tested_exceptions(graph: Graph) -> set[int]:
    """Return the exceptions that some clause tests: other blocks may come first, as in `except (a or b)`."""
    return {inst.uses[0] for block in graph.live() for inst in block.insts if inst.op in TESTS}


def kind_of(graph: Graph, handler: int, tested: set[int]) -> Kind:
    """Return the kind of a handler from its first operations.

    Args:
        graph: the graph.
        handler: the index of the handler.
        tested: the exceptions that some clause tests (`tested_exceptions`).
    """
    entry = graph.handlers[handler]
    block = graph.block(entry.target)
    ops = [inst.op for inst in block.insts]
    if isinstance(block.exit, Reraise) and block.exit.exc == entry.exc:
        if ops == ["POP_EXCEPT"]:
            return Kind.CLEANUP
        if ops[:1] == ["INTRINSIC"] and block.insts[0].arg == "stopiteration_error":
            return Kind.CLEANUP
        if _unbinds(ops[1:] if ops[:1] == ["PUSH_EXC_INFO"] else ops):
            return Kind.NAME
    if ops[:1] == ["END_ASYNC_FOR"]:
        return Kind.ASYNC_FOR
    if ops[:2] == ["PUSH_EXC_INFO", "WITH_EXCEPT_START"]:
        return Kind.WITH
    return Kind.EXCEPT if entry.exc in tested or _catches(block.insts, entry.exc) else Kind.FINALLY


def _unbinds(ops: list[str]) -> bool:
    return len(ops) == 3 and ops == ["CONST", "STORE_" + ops[1][6:], "DELETE_" + ops[1][6:]]


def _catches(insts: list[Inst], exc: int) -> bool:
    """Return whether a handler begins like an `except` clause: with a test, or by dropping the exception."""
    for place, inst in enumerate(insts):
        if inst.op == "PUSH_EXC_INFO" or exc not in inst.uses:
            continue
        if inst.op == "POP":
            return place == 1
        return inst.op in (*TESTS, "STORE_FAST", "STORE_NAME")
    return False


class Regions:
    """All regions of a graph, innermost first, without the implicit cleanup handlers."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        tested = tested_exceptions(graph) if graph.handlers else set()
        kinds = {
            number: kind_of(graph, number, tested)
            for number, handler in enumerate(graph.handlers)
            if graph.blocks[handler.target] is not None
        }
        _remove_cleanups(graph, kinds)
        self._ways: Ways | None = None
        self.parent = {
            number: graph.block(graph.handlers[number].target).handler
            for number, kind in kinds.items()
            if kind is not Kind.CLEANUP
        }
        self._inner: dict[int, set[int]] = {}
        for number, parent in self.parent.items():
            self._inner.setdefault(parent, set()).add(number)
        self.kinds = kinds
        saved = _saved_exceptions(graph) if self.parent else set()
        self.regions = [
            Region(number, kinds[number], parent, self._depth(number, saved)) for number, parent in self.parent.items()
        ]
        self.regions.sort(key=lambda region: -region.depth)

    @property
    def ways(self) -> Ways:
        """The edges to the blocks, recorded on first use or by `renew_ways`."""
        if self._ways is None:
            self._ways = Ways(self.graph)
        return self._ways

    def renew_ways(self) -> None:
        """Record the edges again, after unrecorded changes."""
        self._ways = None

    def _depth(self, handler: int, saved: set[int]) -> int:
        """Return the nesting depth of a handler: in protected regions, and in the code of other handlers."""
        stack = self.graph.block(self.graph.handlers[handler].target).stack
        return len(self.chain(handler)) + sum(temp in saved for temp in stack)

    def chain(self, handler: int) -> list[int]:
        """Return the handler and those around it, the innermost first."""
        handlers: list[int] = []
        while handler >= 0 and handler not in handlers:
            handlers.append(handler)
            handler = self.parent.get(handler, -1)
        return handlers

    def body(self, handler: int) -> set[int]:
        """Return the blocks that a handler protects, directly or around inner handlers."""
        indices: set[int] = set()
        seen = {handler}
        work = [handler]
        while work:
            around = work.pop()
            if around in self.parent:
                indices.update(self.ways.protected(around))
            inner = {number for number in self._inner.get(around, ()) if self.parent.get(number) == around}
            work.extend(inner - seen)
            seen |= inner
        return indices

    def exits(self, body: set[int]) -> Iterator[tuple[Block, Edge]]:
        """Yield the edges that leave a set of blocks."""
        for index in sorted(body):
            block = self.graph.block(index)
            for edge in block.exit.edges():
                if edge.target not in body:
                    yield block, edge

    def dissolve(self, handler: int) -> None:
        """Remove a handler: its protected code belongs to the region around it."""
        parent = self.parent.pop(handler)
        for index in list(self.ways.protected(handler)):
            block = self.graph.block(index)
            block.handler = parent
            self.ways.note(block)
        for number in self._inner.pop(handler, set()):
            if self.parent.get(number) == handler:
                self.parent[number] = parent
                self._inner.setdefault(parent, set()).add(number)


def _saved_exceptions(graph: Graph) -> set[int]:
    """Return the temporaries of exceptions that were being handled when another came."""
    return {
        temp
        for block in graph.live()
        for inst in block.insts[:1]
        if inst.op == "PUSH_EXC_INFO"
        for temp in inst.defs
    }


def _remove_cleanups(graph: Graph, kinds: dict[int, Kind]) -> None:
    """Give the code that an implicit cleanup protects the handler of the cleanup."""
    for block in graph.live():
        seen = set()
        while kinds.get(block.handler) is Kind.CLEANUP and block.handler not in seen:
            seen.add(block.handler)
            block.handler = graph.block(graph.handlers[block.handler].target).handler
    prune(graph)
    join_straight(graph)


def join_straight(graph: Graph) -> None:
    """Join blocks that only bookkeeping has separated."""
    preds: dict[int, int] = {0: 1, graph.end: 2}
    for block in graph.live():
        for edge in block.exit.edges():
            preds[edge.target] = preds.get(edge.target, 0) + 1
    for handler in graph.handlers:
        preds[handler.target] = preds.get(handler.target, 0) + 2
    for block in graph.live():
        if graph.blocks[block.index] is not block:
            continue
        while isinstance(block.exit, Goto):
            edge = block.exit.edge
            target = graph.block(edge.target)
            if preds[edge.target] != 1 or target.handler != block.handler or target is block or target.phis:
                break
            if leaves_handler(block, target) or (len(block.insts) == 1 and block.insts[0].op == "PUSH_EXC_INFO"):
                # A `with` whose exit has suppressed an exception continues after the handler.
                break
            step("block {} absorbs block {}, its only successor", block.index, target.index)
            block.insts.extend(target.insts)
            block.exit = target.exit
            graph.blocks[target.index] = None


def skip_empty(graph: Graph, index: int) -> Block:
    """Return the target of a chain of blocks without operations."""
    seen = {index}
    block = graph.block(index)
    while not block.insts and isinstance(block.exit, Goto) and block.exit.edge.target not in seen:
        block = graph.block(block.exit.edge.target)
        seen.add(block.index)
    return block


def prune(graph: Graph) -> None:
    """Remove unreachable blocks."""
    reached = {0, graph.end}
    work = [0]
    while work:
        block = graph.block(work.pop())
        ways = [edge.target for edge in block.exit.edges()]
        if block.handler >= 0:
            ways.append(graph.handlers[block.handler].target)
        for target in ways:
            if target not in reached:
                reached.add(target)
                work.append(target)
    graph.blocks = [block if number in reached else None for number, block in enumerate(graph.blocks)]
