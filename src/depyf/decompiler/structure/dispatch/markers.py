"""Find the exceptions that are being handled in a block.

PUSH_EXC_INFO leaves the previous exception being handled on the stack, where POP_EXCEPT finds it: a *marker*. The
markers on the stack of a block, the outermost first, are its *nest*.
"""

from __future__ import annotations

from typing import cast

from depyf.decompiler.graph.tac import KEEP, Block, Goto, Graph
from depyf.decompiler.structure.dispatch.groups import splits
from depyf.decompiler.structure.regions.split import split_block

Nest = tuple[int, ...]
PUSH = "PUSH_EXC_INFO"


class Markers:
    """The markers of a graph; those that merge in a phi are one.

    exceptions: by marker, the temporaries of the exception whose handling it ends.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.same: dict[int, int] = {}
        self.exceptions: dict[int, set[int]] = {}
        for block in graph.live():
            self._cut(block)
        pushes = [inst for block in graph.live() for inst in block.insts if inst.op == PUSH]
        self.same = {temp: temp for inst in pushes for temp in inst.defs}
        self._join_phis()
        self._restore()
        for inst in pushes:
            self.exceptions.setdefault(self.of(inst.defs[0]), set()).update(inst.uses)
        for block in graph.live():
            if splits(block) and (nest := self.nest(block)):
                self.exceptions[nest[-1]].add(block.insts[-1].defs[1])

    def of(self, temp: int) -> int:
        """Return the marker of a temporary, -1 for any other value."""
        if temp not in self.same:
            return -1
        while self.same[temp] != temp:
            temp = self.same[temp]
        return temp

    def nest(self, block: Block) -> Nest:
        """Return the nest of a block; the start of a handler counts as inside it."""
        inside = [self.of(temp) for temp in self.marks(block)]
        if block.insts and block.insts[0].op == PUSH:
            inside.append(self.of(block.insts[0].defs[0]))
        return tuple(inside)

    def outside(self, handler: int) -> Nest:
        """Return the nest in which a handler's exception is caught."""
        block = self.graph.block(self.graph.handlers[handler].target)
        return tuple(self.of(temp) for temp in self.marks(block))

    def marks(self, block: Block) -> list[int]:
        """Return the temporaries of the markers on the stack of a block, without used ones."""
        done = self.restored.get(block.index, ())
        return [temp for temp in block.stack if temp in self.same and temp not in done]

    def pushing(self, handler: int) -> Block | None:
        """Return the block that marks the exception of a handler as being handled; None if it does not begin so."""
        block = self.graph.block(self.graph.handlers[handler].target)
        seen = set()
        while block.index not in seen:
            seen.add(block.index)
            if block.insts:
                return block if block.insts[0].op == PUSH else None
            if not isinstance(block.exit, Goto):
                return None
            block = self.graph.block(block.exit.edge.target)
        return None

    def _cut(self, block: Block) -> None:
        """Cut a block after each POP_EXCEPT, and before a PUSH_EXC_INFO that does not begin it."""
        while True:
            place = next(
                (
                    number + (inst.op == "POP_EXCEPT")
                    for number, inst in enumerate(block.insts)
                    if inst.op == "POP_EXCEPT" or (inst.op == PUSH and number)
                ),
                0,
            )
            if not place:
                return
            block = split_block(self.graph, block, place)

    def _restore(self) -> None:
        """Find for each block the markers on its stack that POP_EXCEPT has used: copies of these are useless."""
        self.restored: dict[int, set[int]] = {0: set()}
        work = [0]
        while work:
            block = self.graph.block(work.pop())
            done = set(self.restored[block.index])
            targets = []
            if block.handler >= 0:
                targets.append((self.graph.handlers[block.handler].target, self._kept(block, done)))
            for inst in block.insts:
                if inst.op == "POP_EXCEPT":
                    done.add(inst.uses[0])
                done.difference_update(inst.defs)
            for edge in block.exit.edges():
                phis = self.graph.block(edge.target).phis
                passed = {phi for phi, arg in zip(phis, edge.args) if arg in done}
                targets.append((edge.target, done - set(phis) | passed))
            for target, restored in targets:
                if target not in self.restored:
                    # The number of exceptions being handled at a place does not depend on the path.
                    self.restored[target] = restored
                    work.append(target)

    def _kept(self, block: Block, done: set[int]) -> set[int]:
        """Return the restored markers among those on a handler's stack."""
        entry = self.graph.handlers[block.handler]
        slots = {inst.arg for inst in block.insts if inst.op == KEEP and inst.uses[0] in done}
        return done | {phi for phi, slot in zip(entry.phis, entry.slots) if slot in slots}

    def _join_phis(self) -> None:
        pairs = [
            pair
            for block in self.graph.live()
            for edge in block.exit.edges()
            for pair in zip(self.graph.block(edge.target).phis, edge.args)
        ]
        kept = [inst for block in self.graph.live() for inst in block.insts if inst.op == KEEP]
        pairs.extend((cast(int, inst.arg), inst.uses[0]) for inst in kept)
        changed = True
        # Chains of marker phis are short: each round follows all of them one step.
        while changed:
            changed = False
            for phi, arg in pairs:
                if arg in self.same and self.of(phi) != self.of(arg):
                    self.same[self.of(phi) if phi in self.same else phi] = self.of(arg)
                    changed = True
