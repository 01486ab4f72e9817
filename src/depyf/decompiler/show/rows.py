"""The forms of code as rows, with the instructions that each row came from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from depyf.bytecode.listing import Listing
from depyf.bytecode.records import dataclass
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import Part
from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.extent import extent_of
from depyf.decompiler.show import graph as graphs
from depyf.decompiler.show import listing as listings
from depyf.decompiler.show.tree import STATEMENTS, TreeWriter, Written


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a form.

    offsets: of the instructions that it came from.
    lines: of the user's source.
    """

    text: str
    offsets: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()


class Owned(str):
    """A line with its statement or item."""

    owner: object


class OwnedWriter(TreeWriter):
    """Writes statements as lines with their statements."""

    def parts(self, stmt: ast.stmt, depth: int) -> list[Part]:
        """Return the lines and inner sequences of a statement; the first line has the statement itself."""
        parts = super().parts(stmt, depth)
        if parts and isinstance(parts[0], str):
            line = Owned(parts[0])
            line.owner = stmt
            parts[0] = line
        return parts


def listing_rows(listing: Listing) -> list[Row]:
    """Return the instructions of a listing, then the entries of its handlers."""
    rows = [
        Row(
            listings.row(listing, instruction),
            (instruction.offset,),
            () if instruction.line is None else (instruction.line,),
        )
        for instruction in listing.instructions
    ]
    return rows + [Row(line) for line in listings.handler_lines(listing)]


def graph_rows(graph: Graph) -> list[Row]:
    """Return the blocks of a graph."""
    rows: list[Row] = []
    for block in graph.live():
        head, *lines = graphs.block_lines(graph, block)
        rows.append(Row(head))
        for line, inst in zip(lines, block.insts):
            rows.append(Row(line, (inst.offset,), () if inst.line is None else (inst.line,)))
        line_of_exit = getattr(block.exit, "line", None)
        rows.append(Row(lines[-1], (), () if line_of_exit is None else (line_of_exit,)))
    return rows


def tree_rows(body: Written, grammar: Grammar, listing: Listing) -> list[Row]:
    """Return items or statements, each with the instructions between its first and its last.

    Args:
        body: the items or statements.
        grammar: the syntax of the code's version.
        listing: the instructions of the code object.
    """
    writer = OwnedWriter(grammar, STATEMENTS)
    rows = []
    for line in writer.lines(cast("Sequence[ast.stmt]", body or [ast.Pass()])):
        owner = getattr(line, "owner", None)
        user = getattr(owner, "lineno", None) or getattr(owner, "line", None)
        rows.append(Row(str(line), covered(owner, listing), (user,) if user else ()))
    return rows


def covered(owner: object, listing: Listing) -> tuple[int, ...]:
    """Return the offsets of a statement's or item's instructions, including a test's jump."""
    extent = extent_of(owner)
    if extent is None or extent[0] < 0:
        return ()
    offsets = [
        instruction.offset for instruction in listing.instructions if extent[0] <= instruction.offset <= extent[1]
    ]
    behind = next((instruction for instruction in listing.instructions if instruction.offset > extent[1]), None)
    if behind is not None and behind.op in ("JUMP_IF_TRUE", "JUMP_IF_FALSE", "RETURN"):
        offsets.append(behind.offset)
    return tuple(dict.fromkeys(offsets))
