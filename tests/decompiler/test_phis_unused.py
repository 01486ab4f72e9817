"""Values that cross edges and that nobody uses."""

from __future__ import annotations

from depyf.decompiler.structure.dispatch.phis import drop_dead_phis, drop_saved_offsets
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
BLOCKS = "block 0; v1 = LOAD_FAST 'a'; v2 = LOAD_FAST 'a'; -> 1 (v1, v2)\nblock 1 (v3, v4); POP v3; return v4"


def test_an_unused_value_is_handed_over_no_more() -> None:
    graph = graph_of(BLOCKS, CODE)
    drop_dead_phis(graph)
    assert rows_of(graph)[-3:] == ["-> 1 (v2)", "block 1 (v4)", "return v4"]


def test_a_drop_of_something_else_stays() -> None:
    graph = graph_of(BLOCKS.replace("POP v3; return", "POP v9; POP v3; v5 = CALL () v4; return"), CODE)
    drop_dead_phis(graph)
    assert "POP v9" in rows_of(graph) and "POP v3" not in rows_of(graph)


def test_the_exception_that_bookkeeping_restores_is_used() -> None:
    graph = graph_of(BLOCKS, CODE)
    drop_dead_phis(graph, restored=[3])
    assert "-> 1 (v1, v2)" in rows_of(graph)


def test_offsets_of_exceptions() -> None:
    """Only where one crosses an edge anything is dropped."""
    for offset, edge in ((1, "-> 1 (v2)"), (8, "-> 1 (v1, v2)")):
        blocks = BLOCKS.replace("block 0;", "block 0  [handler 0: block 2];")
        graph = graph_of(f"{blocks}\nblock 2; reraise v9", CODE)
        graph.handlers[0].lasti = offset
        drop_saved_offsets(graph)
        assert edge in rows_of(graph)
