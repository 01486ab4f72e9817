"""Find the exception being handled in each block, without requiring that handlers nest.

A block has level 1 if this frame is handling an exception: there are markers on its stack (see `markers`). Code can see
only the last of the exceptions being handled, so level 1 suffices for all of them. The others are kept in variables,
and come back when POP_EXCEPT restores them (a *switch*).
"""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Goto, Graph
from depyf.decompiler.structure.dispatch.groups import is_raised_alone, splits
from depyf.decompiler.structure.dispatch.markers import PUSH, Markers
from depyf.decompiler.structure.patterns.roots import SUBJECT
from depyf.decompiler.structure.regions.split import split_block
from depyf.errors import DecompilationError

NOTHING = -1


@dataclass(frozen=True, slots=True)
class Switch:
    """Make an exception the one being handled, and continue at a block."""

    exc: int
    target: int


@dataclass(frozen=True, slots=True)
class Way:
    """The way of exceptions out of blocks: the handler (-1: out of the frame), and the marker.

    The marker belongs to the exception to handle instead of the block's own (-1: the block's own, or none).

    thrown: whether the exceptions that leave are thrown, and need their tracebacks restored.
    """

    handler: int
    prior: int
    thrown: bool = False


class Levels:
    """Markers, and facts derived from them.

    restored: the markers whose exceptions are handled again.
    gathers: whether the code gathers exception groups, which depends on tracebacks.
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
        """Return 1 if an exception is being handled while a block runs, else 0."""
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
        """Return the join group of each block; a change of the exception being handled separates groups."""
        return {
            block.index: (self.level(block), self.way(block))
            for block in self.graph.live()
            if not pushes(block) and not pops(block) and not splits(block)
        }

    def _check(self) -> None:
        """Check that the number of exceptions being handled at a place is the same on every path.

        Otherwise a state would be looked up on the wrong level, and another state's arm would run.
        """
        for block in self.graph.live():
            left = len(self._inside(block)) - pops(block)
            for edge in block.exit.edges():
                if (depth := self.depth(self.graph.block(edge.target))) != left:
                    raise DecompilationError(
                        f"block {block.index} handles {left} exceptions, its successor {edge.target} handles {depth}",
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
    """Split the test of a pattern at the start of a handler from the start, because it belongs to the next test."""
    for block in [block for block in graph.live() if any(inst.op in SUBJECT for inst in block.insts)]:
        place = next((number for number, inst in enumerate(block.insts, 1) if inst.op == PUSH), 0)
        if place:
            split_block(graph, block, place)


def pushes(block: Block) -> bool:
    """Return whether a block begins by making an exception the one being handled."""
    return bool(block.insts) and block.insts[0].op == PUSH


def pops(block: Block) -> bool:
    """Return whether a block ends by restoring the previous exception being handled."""
    return bool(block.insts) and block.insts[-1].op == "POP_EXCEPT" and isinstance(block.exit, Goto)
