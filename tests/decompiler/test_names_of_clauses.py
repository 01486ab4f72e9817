"""The unbinding of the name of a clause."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Edge, Graph, Reraise, Return
from depyf.decompiler.structure.regions.names import dissolve, strip_unbindings
from depyf.decompiler.structure.regions.table import Kind, Regions
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
UNBIND = "v5 = CONST None; STORE_FAST 'e' v5; DELETE_FAST 'e'; "
CLAUSE = (
    "block 0  [handler 0: block 1]; v1 = CALL (); return v1\n"
    "block 1; v2 = PUSH_EXC_INFO v9; STORE_FAST 'e' v9; {}v7 = CONST 1; return v7"
)
NAMED = f"""block 0  [handler 0: block 2]; v1 = LOAD_GLOBAL 'g'; -> 3 if v1 else 1
block 1  [handler 0: block 2]; v3 = LOAD_GLOBAL 'h'; return v3
block 2; {UNBIND}reraise v9
block 3; {UNBIND}return v1
block 4; return"""


def stripped(rows: str, clause: str = CLAUSE) -> list[str]:
    graph = graph_of(clause.format(rows), CODE)
    graph.handlers[0].exc = 9
    strip_unbindings(graph, [0])
    return rows_of(graph)


@pytest.mark.parametrize("rows", ["POP_EXCEPT v2; " + UNBIND, UNBIND + "POP_EXCEPT v2; "])
def test_the_unbinding_goes(rows: str) -> None:
    text = stripped(rows)
    assert "DELETE_FAST 'e'" not in text and "STORE_FAST 'e' v5" not in text
    assert "STORE_FAST 'e' v9" in text and "POP_EXCEPT v2" in text


@pytest.mark.parametrize(
    "rows",
    [
        "POP_EXCEPT v2; " + UNBIND.replace("DELETE_FAST 'e'", "DELETE_FAST 'f'"),
        "POP_EXCEPT v2; " + UNBIND.replace("DELETE_FAST", "DELETE_NAME"),
        "POP_EXCEPT v2; " + UNBIND.replace("DELETE_FAST 'e'", "LOAD_FAST 'e'"),
        "POP_EXCEPT v2; " + UNBIND.replace("'e'", "'f'"),
        "POP_EXCEPT v2; v8 = LOAD_FAST 'a'; POP v8; " + UNBIND,
        "POP_EXCEPT v3; " + UNBIND,
        UNBIND,
        UNBIND + "v8 = LOAD_FAST 'a'; POP v8; POP_EXCEPT v2; ",
        "POP_EXCEPT v2; v5 = CONST None; v6 = LOAD_FAST 'e'; DELETE_FAST 'e'; ",
        "POP_EXCEPT v2; v5 = LOAD_FAST 'e'; v6 = LOAD_FAST 'e'; ",
    ],
)
def test_other_operations_stay(rows: str) -> None:
    graph = graph_of(CLAUSE.format(rows), CODE)
    assert stripped(rows) == rows_of(graph)


def test_a_name_that_stores_two_values_is_that_of_the_clause() -> None:
    rows = "POP_EXCEPT v2; " + UNBIND
    other = CLAUSE.replace("STORE_FAST 'e' v9", "STORE_SUBSCR v9 v9 v9")
    assert "DELETE_FAST 'e'" in stripped(rows, other)
    other = CLAUSE.replace("STORE_FAST 'e' v9", "STORE_ATTR 'e' v9 v9")
    assert "DELETE_FAST 'e'" in stripped(rows, other)


def test_an_attribute_is_no_name() -> None:
    other = CLAUSE.replace("STORE_FAST 'e' v9", "STORE_ATTR 'e' v9 v8")
    rows = "POP_EXCEPT v2; v5 = CONST None; STORE_ATTR 'e' v5 v8; DELETE_ATTR 'e' v8; "
    assert "DELETE_ATTR 'e' v8" in stripped(rows, other)


def test_an_exit_of_a_with_is_a_block_of_its_own() -> None:
    clause = CLAUSE.replace("{}v7", UNBIND + "-> 2\nblock 2; POP_EXCEPT v2; v7")
    rows = stripped("", clause)
    assert "DELETE_FAST 'e'" not in rows
    mixed = clause.replace("v1 = CALL (); return v1", "v1 = CALL (); -> 2")
    assert "DELETE_FAST 'e'" in stripped("", mixed)


def test_a_handler_that_does_not_begin_as_one() -> None:
    clause = CLAUSE.replace("v2 = PUSH_EXC_INFO v9", "v2 = CALL () v9")
    assert "DELETE_FAST 'e'" in stripped("POP_EXCEPT v2; " + UNBIND, clause)


def test_a_name_is_unbound_before_a_jump_alone_where_its_end_is_another_block() -> None:
    """On the other way of a test the name is still unbound."""
    tested = "v8 = LOAD_FAST 'a'; " + UNBIND + "-> 2 if v8 else 3\nblock 3; return"
    clause = CLAUSE.replace("{}v7", f"{tested}\nblock 2; POP_EXCEPT v2; v7")
    assert "DELETE_FAST 'e'" in stripped("", clause)


def test_a_name_is_unbound_before_a_block_that_begins_with_the_end_of_the_clause() -> None:
    clause = CLAUSE.replace("{}v7", UNBIND + "-> 2\nblock 2; {}POP_EXCEPT v2; v7")
    assert "DELETE_FAST 'e'" not in stripped("", clause)
    assert "DELETE_FAST 'e'" in stripped("v8 = LOAD_FAST 'a'; POP v8; ", clause)


def test_the_end_of_a_clause_that_no_jump_leads_to() -> None:
    protected = CLAUSE.replace("{}v7", "-> 2\nblock 2  [handler 1: block 3]; v7")
    assert "DELETE_FAST 'e'" not in stripped("", f"{protected}\nblock 3; POP_EXCEPT v2; {UNBIND}reraise v8")


def test_the_unbinding_behind_the_end_of_a_clause_goes_first() -> None:
    rows = stripped(f"{UNBIND}POP_EXCEPT v2; {UNBIND.replace('v5', 'v6')}")
    assert "STORE_FAST 'e' v5" in rows
    assert "STORE_FAST 'e' v6" not in rows


def dissolved(graph: Graph) -> bool:
    """Return whether the handler of a graph that unbinds a name is dissolved."""
    graph.handlers[0].exc = 9
    regions = Regions(graph)
    (region,) = regions.regions
    assert region.kind is Kind.NAME
    return dissolve(regions, region)


def test_the_handler_that_unbinds_a_name_goes() -> None:
    graph = graph_of(NAMED, CODE)
    assert dissolved(graph)
    assert [block.handler for block in graph.live()] == [-1] * len(graph.live())


def test_the_handler_stays_where_an_exit_does_not_unbind_the_name() -> None:
    graph = graph_of(NAMED.replace(f"block 3; {UNBIND}", "block 3; "), CODE)
    assert not dissolved(graph)
    assert graph.block(0).handler == 0


def beyond_of(offsets: dict[int, int], beyond: dict[int, Edge | None]) -> dict[int, int]:
    """Return where the ends of a clause seem to go on to; its handler seems to go on to block 4.

    offsets: those of the ends. beyond: where they seem to go on to before.
    """
    graph = graph_of(NAMED, CODE)
    graph.end = 4
    graph.block(2).exit = Reraise(9, Edge(4))
    for label, offset in offsets.items():
        exit_ = graph.block(label).exit
        assert isinstance(exit_, Return)
        exit_.beyond = beyond.get(label)
        for inst in graph.block(label).insts:
            inst.offset = offset
    assert dissolved(graph)
    exits = {label: graph.block(label).exit for label in offsets}
    return {
        label: way_out.beyond.target
        for label, way_out in exits.items()
        if isinstance(way_out, Return) and way_out.beyond
    }


def test_the_last_end_of_a_clause_seems_to_go_on_as_its_handler_does() -> None:
    assert beyond_of({1: 10, 3: 20}, {}) == {3: 4}
    assert beyond_of({1: 20, 3: 10}, {}) == {1: 4}


def test_an_end_that_seems_to_go_on_elsewhere_stays() -> None:
    assert beyond_of({1: 10, 3: 20}, {3: Edge(0)}) == {1: 4, 3: 0}
