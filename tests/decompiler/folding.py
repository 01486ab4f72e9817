"""What the operations of one block become: a graph as text in, statements as text out."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.show import tree
from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.nodes import items_of


def graph_of(blocks: str, code: Code) -> Graph:
    """Return the graph of some blocks; `; ` parts their lines."""
    return read_graph(blocks.replace("; ", "\n  "), code)


def rows_of(graph: Graph) -> list[str]:
    """Return the lines of a graph, each with single blanks."""
    return [" ".join(line.split()) for line in text(graph).splitlines()]


def folded(block: str, code: Code) -> str:
    """Return the statements of the first block of a graph; `; ` parts its lines."""
    graph = graph_of(block, code)
    return tree.text(items_of(graph, graph.block(0), count_uses(graph)), Grammar.of(code))


def statements(rows: str, code: Code) -> str:
    """Return the statements of operations; a block that says nothing else returns None, which is left out."""
    if "return " in rows:
        return folded(f"block 0; {rows}", code)
    return folded(f"block 0; {rows}; return", code).removesuffix("return\n")
