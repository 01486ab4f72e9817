"""Graphs as nested items: shapes that compilers do not write, or that earlier passes take away."""

from __future__ import annotations

from functools import partial

import pytest

from depyf.bytecode.listing import Extent
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.graph.tac import Graph, Leave
from depyf.decompiler.show import tree
from depyf.decompiler.structure.build import build
from depyf.decompiler.structure.choices import Choices
from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.nests import find_markers, nests
from depyf.decompiler.structure.regions.recognise import Recognised
from depyf.decompiler.structure.regions.table import Regions
from depyf.decompiler.structure.unstructured import Unstructured
from tests.decompiler.folding import graph_of
from tests.decompiler.parsed import steps_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
END = 9
DEFAULT = Choices()
NOT_SHARED = Choices(shared_exits_inside=False)
LEFT_FOR = """block 0; v0 = LOAD_GLOBAL 'xs'; v1 = GET_ITER v0; -> 1
block 1 [stack v1]; -> for v2 in v1: 2, else 5
block 2 [stack v1]; v3 = LOAD_GLOBAL 'g'; -> 3 if v3 else 6
block 3 [stack v1]; -> 4
block 4; -> 5
block 5; v5 = LOAD_GLOBAL 'k'; return v5
block 6 [stack v1]; v6 = LOAD_GLOBAL 'h'; -> 4 if v6 else 1"""

LEFT_TWO = """block 0; v0 = LOAD_GLOBAL 'xs'; v1 = GET_ITER v0; -> 1
block 1 [stack v1]; -> for v2 in v1: 2, else 7
block 2 [stack v1]; v3 = LOAD_GLOBAL 'ys'; v4 = GET_ITER v3; -> 3
block 3 [stack v1, v4]; -> for v5 in v4: 4, else 6
block 4 [stack v1, v4]; v6 = LOAD_GLOBAL 'g'; -> 5 if v6 else 3
block 5 [stack v1, v4]; -> 6
block 6 [stack v1]; -> 7
block 7; v7 = LOAD_GLOBAL 'k'; return v7"""


def graph_with_end(text: str) -> Graph:
    """Return a graph whose block 9, if there is one, is the end; each block is at the offset of its number."""
    graph = graph_of(text, CODE)
    graph.end = END
    for block in graph.live():
        block.offset = block.index
        for inst in block.insts:
            inst.offset = block.index
    return graph


def mark_breaks(graph: Graph, *labels: int) -> None:
    """Mark blocks as a `break` of the source."""
    for label in labels:
        (edge,) = graph.block(label).exit.edges()
        graph.block(label).exit = Leave(edge, None, True)


def built(graph: Graph, choices: Choices = DEFAULT) -> list[str]:
    """Return the rows of the items of a graph."""
    nest = nests(graph, find_markers(graph))
    items = build(graph, Recognised(Regions(graph)), nest, count_uses(graph), choices)
    return [row.strip() for row in tree.text(items, Grammar.of(CODE)).splitlines()]


def test_a_loop_in_one_block_that_always_leaves_is_a_loop() -> None:
    graph = graph_with_end("block 0; v0 = LOAD_GLOBAL 'xs'; -> for v2 in v0: 9, else 9\nblock 9; return")
    assert "loop 0 for v2 in v0:" in built(graph)


def test_a_jump_that_leaves_a_loop_stays_a_break() -> None:
    rows = built(graph_with_end(LEFT_FOR))
    assert rows[rows.index("if g:") + 1] == "# 3"


def test_a_jump_that_is_marked_as_a_break_is_led_past_other_jumps() -> None:
    graph = graph_with_end(LEFT_FOR)
    mark_breaks(graph, 3)
    rows = built(graph)
    assert rows[rows.index("if g:") + 1] == "goto 5"


def test_a_break_is_not_led_past_the_break_of_another_loop() -> None:
    graph = graph_with_end(LEFT_TWO)
    mark_breaks(graph, 5, 6)
    rows = built(graph)
    assert rows[rows.index("if g:") + 1] == "goto 6"


def test_a_jump_out_of_a_loop_is_led_past_jumps_behind_the_loop() -> None:
    rows = built(graph_with_end(LEFT_FOR))
    assert rows[rows.index("if h:") + 1] == "goto 5"


def test_a_loop_that_is_entered_in_its_body_is_no_statement() -> None:
    text = """block 0 [stack v1]; v0 = LOAD_GLOBAL 'g'; -> 1 if v0 else 9
block 1 [stack v1]; -> for v2 in v1: 2, else 9
block 2 [stack v1]; v3 = LOAD_GLOBAL 'h'; -> 0 if v3 else 1
block 9; return"""
    with pytest.raises(Unstructured, match="entered after its head"):
        built(graph_with_end(text))


def test_a_while_may_begin_where_control_never_comes() -> None:
    test = "block 0; v0 = LOAD_GLOBAL 'g'; -> 1 if v0 else 9"
    graph = graph_with_end(f"{test}\nblock 1; never comes here\nblock 9; return")
    graph.source_order = True
    graph.loops = [Extent(1, 1, 2)]
    assert "loop 1:" in built(graph)


def test_a_way_out_of_a_loop_that_gives_a_value_is_not_the_test_of_the_loop() -> None:
    text = """block 0; v0 = LOAD_GLOBAL 'g'; -> 1
block 1; v1 = LOAD_GLOBAL 'g'; -> 2 if v1 else 3 (v0)
block 2; v3 = LOAD_GLOBAL 'h'; POP v3; -> 1
block 3 (v4); return v4"""
    assert "loop 1:" in built(graph_with_end(text))
    assert "loop 1 while g:" in built(graph_with_end(text.replace("3 (v0)", "3").replace("3 (v4)", "3")))


def test_code_that_one_block_of_a_loop_leads_to_is_inside_where_shared_code_is_not() -> None:
    text = """block 0; v0 = LOAD_GLOBAL 'f'; POP v0; -> 1
block 1; v1 = LOAD_GLOBAL 'g'; -> 2 if v1 else 5
block 2; v2 = LOAD_GLOBAL 'h'; -> 3 if v2 else 4
block 3; v3 = LOAD_GLOBAL 'k'; POP v3; -> 5
block 4; v4 = LOAD_GLOBAL 'm'; -> {} if v4 else 1
block 5; v5 = LOAD_GLOBAL 'n'; return v5"""
    graphs = [graph_with_end(text.format(label)) for label in (5, 3)]
    alone, shared = (steps_of(partial(built, graph, NOT_SHARED)) for graph in graphs)
    assert "the loop of block 1, blocks [1, 2, 3, 4], becomes one node" in alone
    assert "the loop of block 1, blocks [1, 2, 4], becomes one node" in shared
