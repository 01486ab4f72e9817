"""Failures of tests lead back to the test of the value that they belong to."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.structure.lead_back import lead_back
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
PART = (
    "block 0; v2 = CALL (); {}\nblock 3{}; v3 = CALL (); {}\nblock 4 (v4); {}-> 5 if v4 else 9{}\n"
    "block 5; v6 = CALL () v2; return v6\nblock 9{}; v7 = CALL (); return v7"
)
LED = PART.format("-> 3 if v2 else 9 (v2)", "", "-> 4 (v3)", "", " (v4)", " (v9)")


def led(blocks: str) -> Graph:
    graph = graph_of(blocks, CODE)
    lead_back(graph)
    return graph


def test_a_failure_leads_to_the_test_that_it_is_a_part_of() -> None:
    assert rows_of(led(LED))[2] == "-> 3 if v2 else 4 (v2)"


@pytest.mark.parametrize(
    "blocks",
    [
        PART.format("-> 3 if v2 else 5", "", "-> 4 (v3)", "", " (v4)", " (v9)"),
        PART.format("-> 3 if v2 else 9 (v8)", "", "-> 4 (v3)", "", " (v4)", " (v9)"),
        PART.format("-> 3 if v2 else 9 (v2)", "", "-> 4 (v3)", "v10 = CALL (); ", " (v4)", " (v9)"),
        LED.replace("5 if v4", "5 if v2"),
        LED.replace("return v6", "-> 3"),
        LED.replace("-> 4 (v3)", "-> 4 (v3) if v3 else 5"),
        LED.replace("-> 3 if v2 else 9 (v2)", "-> for v2 in v8: 3, else 9 (v2)"),
    ],
    ids=[
        "it leads elsewhere", "it hands over something else", "something is done before the test",
        "another value is tested", "another way leads to the part", "the part tests too", "it is the end of a loop",
    ],
)
def test_a_failure_of_something_else_stays(blocks: str) -> None:
    assert rows_of(led(blocks))[2] == rows_of(graph_of(blocks, CODE))[2]


CHAIN = (
    "block 0; v1 = CALL (); -> 2 if v1 else 9 (v1)\nblock 2; v2 = CALL (); {}\nblock 3; v3 = CALL (); -> 4 (v3)\n"
    "block 4 (v4); -> 5 if v4 else 9 (v4)\nblock 5; v6 = CALL () v2; return v6\n"
    "block 9 (v9); v7 = CALL (); return v7"
)


@pytest.mark.parametrize(
    ("second", "first"),
    [
        ("-> 3 if v2 else 9 (v2)", "4 (v1)"), ("-> 3", "4 (v1)"), ("-> 3 if v2 else 5", "9 (v1)"),
        ("-> for v2 in v8: 3, else 5", "9 (v1)"), ("-> 10\nblock 10; -> 3", "4 (v1)"),
    ],
    ids=[
        "all of a chain lead back", "a block between them does not end it", "one that stays ends it",
        "the head of a loop ends it", "a block without operations does not end it",
    ],
)
def test_the_failures_of_a_chain_of_tests(second: str, first: str) -> None:
    assert rows_of(led(CHAIN.format(second)))[2] == f"-> 2 if v1 else {first}"
