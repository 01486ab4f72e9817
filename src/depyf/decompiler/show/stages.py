"""The stages of a decompilation side by side: bytecode, graph, tree and source, row by row."""

from __future__ import annotations

from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.records import dataclass
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.show.rows import Row, graph_rows, listing_rows, tree_rows
from depyf.verify.pairs import Paired

GRAPH = "lift"
ITEMS, STATEMENTS = "build", "dispatch"
"""The passes after which the graph and the tree are shown. The tree has items, or statements if there are no items."""


@dataclass(slots=True)
class Staged:
    """One code object in each form before the source."""

    code: Code
    listing: Listing
    graph: list[Row] = field(default_factory=list)
    tree: list[Row] = field(default_factory=list)

    def bytecode(self) -> list[Row]:
        """Return its instructions."""
        return listing_rows(self.listing)


class Stages:
    """Records each code object of a decompilation as it goes through the stages."""

    def __init__(self) -> None:
        self.found: list[Staged] = []
        self.works: set[int] = set()

    def begin(self, work: Work) -> None:
        """Begin the record of a code object."""
        self.found.append(Staged(work.code, work.listing))
        self.works = {id(work)}

    def attempt(self, work: Work, why: str) -> None:
        """Discard the record of a failed way."""
        self.found[-1].graph, self.found[-1].tree = [], []

    def step(self, message: str) -> None:
        """Ignore a step."""

    def after(self, name: str, work: Work) -> None:
        """Record the form after a pass."""
        if id(work) not in self.works:
            return
        grammar = Grammar.of(work.code)
        if name == GRAPH:
            self.found[-1].graph = graph_rows(work.graph)
        elif name == ITEMS:
            self.found[-1].tree = tree_rows(work.items, grammar, work.listing)
        elif name == STATEMENTS:
            self.found[-1].tree = tree_rows(work.stmts, grammar, work.listing)


Origins = dict[int, list[tuple[int, Row]]]
"""By line of a text: the numbers of code objects, and the offsets and user's lines that the line came from."""


def origins(paired: list[Paired], numbers: dict[int, int]) -> Origins:
    """Return the origins of each line of a compiled text.

    Args:
        numbers: of the original code objects, by identity.
    """
    offsets_by_line: dict[int, dict[int, list[int]]] = {}
    lines: dict[int, dict[int, list[int]]] = {}
    for pairing in paired:
        number = numbers.get(id(pairing.original.code))
        if number is None:
            continue
        for index, others in pairing.pairs.items():
            item = pairing.original.instructions[index]
            for other in others:
                line = pairing.candidate.instructions[other].line
                if line is not None:
                    offsets_by_line.setdefault(line, {}).setdefault(number, []).append(item.offset)
                    if item.line is not None:
                        lines.setdefault(line, {}).setdefault(number, []).append(item.line)
    return {
        line: [
            (number, Row("", tuple(sorted(set(offsets))), tuple(sorted(set(lines.get(line, {}).get(number, []))))))
            for number, offsets in by_code.items()
        ]
        for line, by_code in offsets_by_line.items()
    }
