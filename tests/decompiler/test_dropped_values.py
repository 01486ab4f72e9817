"""Values that tests hand over only to be dropped."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.dropped import remove_dropped
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
TESTED = "block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2 (v0)\nblock 1; return v0\nblock 2 (v1); {}; return"
DROPPED = {
    "a tested value": (TESTED.format("POP v1"), "-> 1 if v0 else 2"),
    "a tested value before something else": (TESTED.format("POP v1; v2 = CALL () v0; POP v2"), "-> 1 if v0 else 2"),
}
STAYS = {
    "a value that is used": TESTED.format("v2 = CALL () v1; POP v1; POP v2"),
    "a value that is returned": f"{TESTED.format('POP v1')} v1",
    "a value that is not dropped": TESTED.format("v2 = CALL (); POP v2"),
    "a value that is dropped twice": TESTED.format("POP v1; POP v1"),
    "a value that something else takes alone": TESTED.format("v2 = CALL () v1"),
    "a value that was not tested": "block 0; v0 = LOAD_FAST 'a'; -> 2 (v0)\nblock 2 (v1); POP v1; return",
    "another value than the tested one": TESTED.format("POP v1").replace("2 (v0)", "2 (v9)"),
    "a value that the next block takes": (
        f"{TESTED.format('POP v1').removesuffix('return')}-> 3 (v1)\nblock 3 (v3); return"
    ),
}


@pytest.mark.parametrize("what", DROPPED)
def test_what_is_only_dropped_is_handed_over_no_more(what: str) -> None:
    blocks, exit_ = DROPPED[what]
    graph = graph_of(blocks, CODE)
    graph.block(2).stack = [1]
    remove_dropped(graph)
    assert rows_of(graph)[2] == exit_
    assert (graph.block(2).phis, graph.block(2).stack) == ([], [])
    assert "POP v1" not in rows_of(graph)


@pytest.mark.parametrize("what", STAYS)
def test_what_is_wanted_or_not_tested_stays(what: str) -> None:
    graph = graph_of(STAYS[what], CODE)
    before = rows_of(graph)
    remove_dropped(graph)
    assert rows_of(graph) == before


def test_what_a_handler_begins_with_stays() -> None:
    graph = graph_of("block 0  [handler 0: block 2]; " + TESTED.format("POP v1").removeprefix("block 0; "), CODE)
    before = rows_of(graph)
    remove_dropped(graph)
    assert rows_of(graph) == before


def test_one_of_two_values_goes() -> None:
    graph = graph_of(TESTED.format("POP v1").replace("2 (v0)", "2 (v0, v9)").replace("(v1)", "(v1, v5)"), CODE)
    remove_dropped(graph)
    assert (graph.block(2).phis, rows_of(graph)[2]) == ([5], "-> 1 if v0 else 2 (v9)")
