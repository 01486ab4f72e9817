"""Graphs as text whose operations and exits have locations: `POP v1 @4-9` has the columns 4 to 9 of one line."""

from __future__ import annotations

import re

from depyf.bytecode.code import Code
from depyf.bytecode.places import Place
from depyf.decompiler.graph.tac import Graph, Inst, Raise, Return
from tests.decompiler.folding import graph_of

MARK = re.compile(r" @(\d+)-(\d+)$")


def located(blocks: str, code: Code) -> Graph:
    """Return the graph of some blocks, which stand in the order of their numbers; `; ` parts their lines."""
    rows = blocks.replace("; ", "\n").splitlines()
    plain = [MARK.sub("", row) for row in rows]
    graph = graph_of("\n".join(row if row.startswith("block") else f"  {row}" for row in plain), code)
    items = [item for block in graph.live() for item in (None, *block.insts, block.exit)]
    graph.places = [None] * len(rows)
    for number, (row, item) in enumerate(zip(rows, items, strict=True)):
        mark = MARK.search(row)
        if mark is not None:
            assert isinstance(item, (Inst, Return, Raise)), row
            item.offset = 2 * number
            graph.places[number] = Place(1, int(mark[1]), 1, int(mark[2]))
    return graph
