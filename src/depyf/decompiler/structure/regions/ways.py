"""The edges to the blocks of a graph, up to date at every step of removing regions from it.

A record may be out of date: every answer is checked against the graph. So a change must only be recorded for the
changed blocks, and removing all regions costs no more than looking at every block a few times. An unrecorded change is
never found: code that redirects a block, or changes its handler, must record that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from depyf.decompiler.graph.tac import Block, Goto, Graph
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.split import split_block


class Ways:
    """Edges and protection of a graph, by their targets."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._sources: dict[int, set[int]] = {}
        self._protected: dict[int, set[int]] = {}
        self._entered: dict[int, list[int]] = {}
        for number, handler in enumerate(graph.handlers):
            self._entered.setdefault(handler.target, []).append(number)
        for block in graph.live():
            self.note(block)

    def note(self, block: Block) -> None:
        """Record a block that is new, or whose exit or handler has changed."""
        for edge in block.exit.edges():
            self._sources.setdefault(edge.target, set()).add(block.index)
        self._protected.setdefault(block.handler, set()).add(block.index)

    def sources(self, index: int) -> Iterator[int]:
        """Yield the blocks with an edge to a block."""
        return self._checked(self._sources.get(index, set()), index, self._leads)

    def protected(self, handler: int) -> Iterator[int]:
        """Yield the blocks that a handler protects directly."""
        return self._checked(self._protected.get(handler, set()), handler, self._is_under)

    def _checked(self, noted: set[int], of: int, is_true: Callable[[Block, int], bool]) -> Iterator[int]:
        """Yield the records that are still true, and delete the others."""
        past: list[int] = []
        try:
            for index in noted:
                block = self.graph.blocks[index]
                if block is not None and is_true(block, of):
                    yield index
                else:
                    past.append(index)
        finally:
            noted.difference_update(past)

    @staticmethod
    def _leads(block: Block, target: int) -> bool:
        return any(edge.target == target for edge in block.exit.edges())

    @staticmethod
    def _is_under(block: Block, handler: int) -> bool:
        return block.handler == handler

    def handlers(self, index: int) -> list[int]:
        """Return the handlers that begin with a block."""
        return self._entered.get(index, [])

    def split(self, block: Block, place: int) -> Block:
        """Cut a block in two, as `split_block` does."""
        rest = split_block(self.graph, block, place)
        self.note(block)
        self.note(rest)
        return rest

    def join(self, block: Block) -> None:
        """Append to a block its successor, as long as nothing else leads there."""
        graph = self.graph
        while isinstance(block.exit, Goto):
            target = graph.block(block.exit.edge.target)
            if target.index in (0, graph.end, block.index) or target.index in self._entered:
                return
            if target.phis or target.handler != block.handler or leaves_handler(block, target):
                return
            if any(source != block.index for source in self.sources(target.index)):
                return
            if [inst.op for inst in block.insts] == ["PUSH_EXC_INFO"]:
                # A `with` whose exit has suppressed an exception continues after the handler.
                return
            step("block {} absorbs block {}, its only successor", block.index, target.index)
            block.insts.extend(target.insts)
            block.exit = target.exit
            graph.blocks[target.index] = None
            self.note(block)

    def prune(self, doubtful: Iterable[int]) -> None:
        """Remove the unreachable ones of the blocks, and blocks that only they lead to.

        A disconnected cycle of blocks is found if all of it is doubtful, except for blocks without operations.
        """
        graph = self.graph
        unsure = self._with_empty(doubtful)
        work = [index for index in unsure if any(source not in unsure for source in self._reaching(index))]
        while work:
            index = work.pop()
            if index in unsure:
                unsure.discard(index)
                work.extend(self._targets(graph.block(index)))
        while unsure:
            behind = {target for index in unsure for target in self._targets(graph.block(index))}
            for index in unsure:
                graph.blocks[index] = None
            left = {index for index in behind - {0, graph.end} if graph.blocks[index] is not None}
            unsure = {index for index in left if not any(True for _ in self._reaching(index))}

    def _with_empty(self, blocks: Iterable[int]) -> set[int]:
        """Return the removable ones of the blocks, with blocks without operations that they lead to."""
        graph = self.graph
        removable: set[int] = set()
        work = list(blocks)
        while work:
            index = work.pop()
            block = graph.blocks[index]
            if block is not None and index not in removable and index not in (0, graph.end):
                removable.add(index)
                work.extend(target for target in self._targets(block) if not graph.block(target).insts)
        return removable

    def _reaching(self, index: int) -> Iterator[int]:
        """Yield the predecessors of a block, by an edge or an exception."""
        yield from self.sources(index)
        for handler in self._entered.get(index, ()):
            yield from self.protected(handler)

    def _targets(self, block: Block) -> list[int]:
        targets = [edge.target for edge in block.exit.edges()]
        if block.handler >= 0:
            targets.append(self.graph.handlers[block.handler].target)
        return targets


def leaves_handler(block: Block, target: Block) -> bool:
    """Return whether the handler that begins with a block has ended in the next one.

    Its end was bookkeeping that is gone.
    """
    first = block.insts[0] if block.insts else None
    if first is None or first.op != "PUSH_EXC_INFO" or first.defs[0] in target.stack:
        return False
    return not any(inst.op == "POP_EXCEPT" and inst.uses == first.defs for inst in block.insts)
