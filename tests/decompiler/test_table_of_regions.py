"""Protected regions: kinds of handlers, how they nest, and the blocks that are joined."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.regions import table
from depyf.decompiler.structure.regions.table import Kind, Regions, join_straight, kind_of, prune
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
GUARDED = "block 0  [handler 0: block 1]; v0 = CALL (); return v0\nblock 1; {}"
KINDS = {
    "v2 = PUSH_EXC_INFO v1; POP v1; v3 = CALL (); return v3": Kind.EXCEPT,
    "v2 = PUSH_EXC_INFO v1; v3 = CHECK_EXC_MATCH v1 v9; -> 2 if v3 else 3": Kind.EXCEPT,
    "v2 = PUSH_EXC_INFO v1; v3 = CALL (); -> 4 if v3 else 5": Kind.EXCEPT,
    "v2 = PUSH_EXC_INFO v1; v3 = CHECK_EG_MATCH v1 v9; -> 2 if v3 else 3": Kind.EXCEPT,
    "v2 = PUSH_EXC_INFO v1; STORE_FAST 'a' v1; return": Kind.EXCEPT,
    "v2 = PUSH_EXC_INFO v1; v3 = CALL () v1; reraise v1": Kind.FINALLY,
    "v2 = PUSH_EXC_INFO v1; v3 = CALL (); POP v1; return": Kind.FINALLY,
    "v2 = PUSH_EXC_INFO v1; v3 = CALL (); reraise v1": Kind.FINALLY,
    "v2 = PUSH_EXC_INFO v1; v3 = WITH_EXCEPT_START v8 v1; -> 2 if v3 else 3": Kind.WITH,
    "END_ASYNC_FOR v1; return": Kind.ASYNC_FOR,
    "POP_EXCEPT v9; reraise v1": Kind.CLEANUP,
    "POP_EXCEPT v9; reraise v8": Kind.FINALLY,
    "v3 = INTRINSIC 'stopiteration_error' v1; reraise v1": Kind.CLEANUP,
    "v3 = INTRINSIC 'other' v1; reraise v1": Kind.FINALLY,
    "v3 = CONST None; STORE_FAST 'a' v3; DELETE_FAST 'a'; reraise v1": Kind.NAME,
    "v2 = PUSH_EXC_INFO v1; v3 = CONST None; STORE_FAST 'a' v3; DELETE_FAST 'a'; reraise v1": Kind.NAME,
    "v3 = CONST None; STORE_FAST 'a' v3; DELETE_NAME 'a'; reraise v1": Kind.FINALLY,
    "v3 = CONST None; STORE_FAST 'a' v3; DELETE_FAST 'a'; return": Kind.FINALLY,
}
REST = (
    "\nblock 2; return v9\nblock 3; reraise v1\nblock 4; v7 = CHECK_EXC_MATCH v1 v9; -> 2 if v7 else 3\n"
    "block 5; return v9"
)


@pytest.mark.parametrize("rows", KINDS)
def test_the_kind_of_a_handler(rows: str) -> None:
    graph = graph_of(GUARDED.format(rows) + REST, CODE)
    graph.handlers[0].exc = 1
    tested = table.tested_exceptions(graph) if "-> 4" in rows else set()
    assert kind_of(graph, 0, tested) is KINDS[rows]


# -- nesting ------------------------------------------------------------------------------------

NESTED = (
    "block 0  [handler 0: block 2]; v0 = CALL (); -> 1\nblock 1  [handler 1: block 3]; v1 = CALL (); return v1\n"
    "block 2; v2 = CALL (); reraise v5\nblock 3  [handler 0: block 2]; v3 = CALL (); reraise v6"
)


def test_regions_nest_as_their_handlers_are_protected() -> None:
    regions = Regions(graph_of(NESTED, CODE))
    assert [(region.handler, region.parent, region.depth) for region in regions.regions] == [(1, 0, 2), (0, -1, 1)]
    assert (regions.body(0), regions.body(1)) == ({0, 1, 3}, {1})
    regions.dissolve(1)
    assert (regions.body(0), regions.parent) == ({0, 1, 3}, {0: -1})


def test_code_of_a_handler_is_nested_in_it() -> None:
    blocks = (
        "block 0  [handler 0: block 1]; v0 = CALL (); return v0\n"
        "block 1; v2 = PUSH_EXC_INFO v9; v3 = CALL (); -> 2 if v3 else 3\n"
        "block 2  [handler 1: block 4]; v4 = CALL (); return v4\nblock 3; return v3\n"
        "block 4  [stack v2]; {}v5 = CALL (); reraise v8"
    )
    saved = Regions(graph_of(blocks.format(""), CODE))
    assert [(region.handler, region.depth) for region in saved.regions] == [(1, 2), (0, 1)]
    other = Regions(graph_of(blocks.format("").replace("PUSH_EXC_INFO v9", "CALL () v9"), CODE))
    assert {region.depth for region in other.regions} == {1}


def test_what_an_implicit_handler_protects_is_protected_by_what_is_around() -> None:
    blocks = (
        "block 0  [handler 0: block 1]; v0 = CALL (); return v0\n"
        "block 1  [handler 1: block 2]; v2 = PUSH_EXC_INFO v9; v3 = CALL (); return v3\n"
        "block 2; POP_EXCEPT v2; reraise v8"
    )
    regions = Regions(graph_of(blocks, CODE))
    assert [block.handler for block in regions.graph.live()] == [0, -1]


def test_ways_are_noted_anew() -> None:
    blocks = "block 0; v0 = CALL (); -> 1 if v0 else 2\nblock 1; return v0\nblock 2; v2 = CALL (); return v2"
    graph = graph_of(blocks, CODE)
    regions = Regions(graph)
    assert list(regions.ways.sources(1)) == [0]
    graph.block(2).exit = graph.block(0).exit
    assert list(regions.ways.sources(1)) == [0]
    regions.renew_ways()
    assert list(regions.ways.sources(1)) == [0, 2]


# -- blocks that are joined -----------------------------------------------------------------------

APART = {
    "another way leads there": (
        "block 0; v0 = CALL (); -> 1 if v0 else 2\nblock 1; v1 = CALL (); -> 2\nblock 2; return v0"
    ),
    "a handler protects one of them": (
        "block 0  [handler 0: block 2]; v0 = CALL (); -> 1\nblock 1; return v0\nblock 2; v2 = CALL (); reraise v9"
    ),
    "values are handed over": "block 0; v0 = CALL (); -> 1 (v0)\nblock 1 (v1); return v1",
    "a handler begins there": (
        "block 0; v0 = CALL (); -> 1\nblock 1; v1 = CALL (); return v1\n"
        "block 2  [handler 0: block 1]; v2 = CALL (); return v2"
    ),
    "the first of them only keeps an exception": "block 0; v0 = PUSH_EXC_INFO v9; -> 1\nblock 1; return v0",
    "a block leads to itself": "block 0; return v9\nblock 1; v1 = CALL (); -> 1",
    "the first of them tests": "block 0; v0 = CALL (); -> 1 if v0 else 2\nblock 1; return v0\nblock 2; return v0",
}
TOGETHER = {
    "one leads to the other": "block 0; v0 = CALL (); -> 1\nblock 1; v1 = CALL (); return v1",
    "three in a row": "block 0; v0 = CALL (); -> 1\nblock 1; -> 2\nblock 2; v1 = CALL (); return v1",
    "the first one does one thing": "block 0; v0 = CALL () v9; -> 1\nblock 1; v1 = CALL (); return v1",
}


@pytest.mark.parametrize("why", APART)
def test_blocks_stay_apart(why: str) -> None:
    graph = graph_of(APART[why], CODE)
    before = rows_of(graph)
    join_straight(graph)
    assert rows_of(graph) == before


@pytest.mark.parametrize("why", TOGETHER)
def test_blocks_are_one(why: str) -> None:
    graph = graph_of(TOGETHER[why], CODE)
    join_straight(graph)
    assert [block.index for block in graph.live()] == [0]
    assert rows_of(graph)[-2:] == ["v1 = CALL ()", "return v1"]


def test_what_cannot_be_reached_goes() -> None:
    graph = graph_of(
        "block 0  [handler 0: block 2]; v0 = CALL (); -> 1\nblock 1; return v0\nblock 2; -> 3\nblock 3; reraise v9\n"
        "block 4  [handler 1: block 5]; -> 4\nblock 5; reraise v8",
        CODE,
    )
    prune(graph)
    assert [block.index for block in graph.live()] == [0, 1, 2, 3]


def test_the_end_stays() -> None:
    graph = graph_of("block 0; return v9\nblock 1; return\nblock 2; return", CODE)
    graph.end = 2
    prune(graph)
    assert [block.index for block in graph.live()] == [0, 2]
