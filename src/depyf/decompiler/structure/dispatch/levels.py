"""What is being handled in each block, where handlers need not nest.

A block has level 1 where this frame is handling an exception: there are markers on its stack (see `markers`). Of the
exceptions that are being handled only the last can be seen, so level 1 is enough for all of them: the others wait in
variables, and come back when POP_EXCEPT restores them (a *switch*).
"""

from __future__ import annotations

from dataclasses import dataclass

from depyf.decompiler.graph.tac import Block, Goto, Graph
from depyf.decompiler.structure.dispatch.groups import is_raised_alone, splits
from depyf.decompiler.structure.dispatch.markers import PUSH, Markers
from depyf.decompiler.structure.patterns.roots import SUBJECT
from depyf.decompiler.structure.regions.split import split_block
from depyf.errors import DecompilationError

NOTHING = -1


@dataclass(frozen=True, slots=True)
class Switch:
    """Let an exception be the one that is handled, and go on at a block."""

    exc: int
    target: int


@dataclass(frozen=True, slots=True)
class Way:
    """How exceptions leave blocks: to which handler (-1: out of the frame), and what is handled then, in the place of
    what the block handles (a marker; -1: that, or nothing).

    thrown: whether what leaves them is thrown, and its traceback to be what it was.
    """

    handler: int
    prior: int
    thrown: bool = False


class Levels:
    """Markers, and what follows from them.

    restored: the markers whose exceptions are handled again.
    gathers: whether the code gathers groups of exceptions, which asks for tracebacks.
    """

    def __init__(self, graph: Graph, *, gathers: bool) -> None:
        self.graph = graph
        self.gathers = gathers
        _part_tests(graph)
        self.markers = Markers(graph)
        self.restored: set[int] = set()
        self._check()
        for block in graph.live():
            if pops(block) and self.depth(block) > 1:
                self.restored.update(block.insts[-1].uses)
            if self.way(block).prior != NOTHING:
                self.restored.add(self.way(block).prior)

    def depth(self, block: Block) -> int:
        """Return how many exceptions are being handled at the start of a block."""
        return len(self._marks(block))

    def level(self, block: Block) -> int:
        """Return 1 where an exception is being handled while a block runs, else 0."""
        return int(pushes(block) or self.depth(block) > 0)

    def way(self, block: Block) -> Way:
        """Return how an exception leaves a block."""
        if block.handler < 0:
            return Way(NOTHING, NOTHING)
        marks, kept = self._inside(block), self.depth(self._target(block.handler))
        thrown = self.gathers and is_raised_alone(block) and not self.is_current(block, *block.exit.reads())
        return Way(block.handler, marks[kept] if 0 < kept < len(marks) else NOTHING, thrown)

    def is_current(self, block: Block, exc: int) -> bool:
        """Return whether an exception is surely the one that is being handled in a block."""
        marks = self._inside(block)
        return bool(marks) and self.markers.exceptions.get(self.markers.of(marks[-1])) == {exc}

    def groups(self) -> dict[int, tuple[int, Way]]:
        """Return by block what may be joined with it; where another exception comes to be handled is no middle."""
        return {
            block.index: (self.level(block), self.way(block))
            for block in self.graph.live()
            if not pushes(block) and not pops(block) and not splits(block)
        }

    def _check(self) -> None:
        """Check that as much is being handled at a place whatever way leads there: else a state is sought on the level
        where it is not, and what another state does is done."""
        for block in self.graph.live():
            left = len(self._inside(block)) - pops(block)
            for edge in block.exit.edges():
                if (found := self.depth(self.graph.block(edge.target))) != left:
                    raise DecompilationError(
                        f"block {block.index} handles {left} exceptions, block {edge.target} behind it {found}",
                        code=str(self.graph.code),
                        offset=block.offset,
                    )

    def _target(self, handler: int) -> Block:
        return self.graph.block(self.graph.handlers[handler].target)

    def _inside(self, block: Block) -> list[int]:
        return [*self._marks(block), *(block.insts[0].defs if pushes(block) else [])]

    def _marks(self, block: Block) -> list[int]:
        return self.markers.marks(block)


def _part_tests(graph: Graph) -> None:
    """Part the test of a pattern that a handler begins with from its beginning: it is one with what is tested next."""
    for block in [block for block in graph.live() if any(inst.op in SUBJECT for inst in block.insts)]:
        place = next((number for number, inst in enumerate(block.insts, 1) if inst.op == PUSH), 0)
        if place:
            split_block(graph, block, place)


def pushes(block: Block) -> bool:
    """Return whether a block begins by letting an exception be the one that is handled."""
    return bool(block.insts) and block.insts[0].op == PUSH


def pops(block: Block) -> bool:
    """Return whether a block ends by handling what was handled before."""
    return bool(block.insts) and block.insts[-1].op == "POP_EXCEPT" and isinstance(block.exit, Goto)
