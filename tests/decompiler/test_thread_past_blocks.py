"""Edges past blocks that do nothing."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.structure.regions.table import Regions
from depyf.decompiler.structure.thread import thread
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
HEAD = "block 0; v0 = LOAD_FAST 'a'; v9 = CALL (); {}\n"
LAST = "block {0}; v8 = CALL () v9; return v8"


def threaded(blocks: str, markers: set[int] | None = None) -> Graph:
    graph = graph_of(blocks, CODE)
    thread(graph, markers or set(), Regions(graph))
    return graph


def exit_behind(exit_: str, blocks: str, markers: set[int] | None = None) -> str:
    """Return the exit of the first block afterwards."""
    return rows_of(threaded(HEAD.format(exit_) + blocks, markers))[3]


PASSED = {
    "an empty block": ("-> 1 if v0 else 2", f"block 1; -> 2\n{LAST.format(2)}", "-> 2 if v0 else 2"),
    "two empty blocks": ("-> 1 if v0 else 3", f"block 1; -> 2\nblock 2; -> 3\n{LAST.format(3)}", "-> 3 if v0 else 3"),
    "a block that drops a value that is used": (
        "-> 1 if v0 else 2",
        f"block 1; POP v9; -> 2\n{LAST.format(2)}",
        "-> 2 if v0 else 2",
    ),
    "a block that hands a value on": (
        "-> 1 (v9) if v0 else 2 (v0)",
        "block 1 (v1); -> 2 (v1)\nblock 2 (v2); return v2",
        "-> 2 (v9) if v0 else 2 (v0)",
    ),
    "a block that drops what is used elsewhere": (
        "-> 1 (v9) if v0 else 2",
        f"block 1 (v1); POP v1; -> 2\n{LAST.format(2)}",
        "-> 2 if v0 else 2",
    ),
}
KEPT = {
    "a block that drops a value that nobody uses": ("-> 1 if v0 else 2", "block 1; POP v9; -> 2\nblock 2; return v0"),
    "a block that drops what only it is handed": (
        "-> 1 (v9) if v0 else 2",
        "block 1 (v1); POP v1; -> 2\nblock 2; return v0",
    ),
    "a block that does something": ("-> 1 if v0 else 2", f"block 1; v3 = CALL (); -> 2\n{LAST.format(2)}"),
    "a block that tests": ("-> 1 if v0 else 2", f"block 1; -> 2 if v0 else 3\n{LAST.format(2)}\n{LAST.format(3)}"),
    "a block that is protected": (
        "-> 1 if v0 else 2",
        f"block 1  [handler 0: block 3]; -> 2\n{LAST.format(2)}\nblock 3; v4 = CALL () v5; reraise v5",
    ),
    "a loop of empty blocks": ("-> 1 if v0 else 2", f"block 1; -> 1\n{LAST.format(2)}"),
}
"""Exits of the first block, the blocks behind it, and the exit afterwards."""


@pytest.mark.parametrize("what", PASSED)
def test_an_edge_leads_past(what: str) -> None:
    exit_, blocks, behind = PASSED[what]
    assert exit_behind(exit_, blocks) == behind


@pytest.mark.parametrize("what", KEPT)
def test_an_edge_does_not_lead_past(what: str) -> None:
    exit_, blocks = KEPT[what]
    assert exit_behind(exit_, blocks) == exit_


def test_what_marks_a_statement_is_kept() -> None:
    exit_, blocks, _ = PASSED["a block that drops a value that is used"]
    assert exit_behind(exit_, blocks, {9}) == exit_


def test_the_last_block_is_kept() -> None:
    exit_, blocks, _ = PASSED["an empty block"]
    graph = graph_of(HEAD.format(exit_) + blocks, CODE)
    graph.end = 1
    thread(graph, set(), Regions(graph))
    assert rows_of(graph)[3] == exit_


LOOP = (
    "block 0; v0 = LOAD_FAST 'a'; -> for v1 in v0: 1, else {}\nblock 1; v2 = CALL () v1; -> 0\n"
    "block 2{}; -> 3 ({})\nblock 3 (v5); return v5"
)


def test_the_head_of_a_loop_hands_nothing_over() -> None:
    assert rows_of(threaded(LOOP.format("2", "", "v9")))[2] == "-> for v1 in v0: 1, else 2"
    assert rows_of(threaded(LOOP.format("2", "", "v5")))[2] == "-> for v1 in v0: 1, else 3 (v5)"


PROTECTED = (
    "block 0  [handler 0: block 3]; v0 = CALL (); -> 1 if v0 else 2\nblock 1{}; -> {}\n"
    "block 2; return v0\nblock 3; v4 = CALL () v5; reraise v5"
)


@pytest.mark.parametrize(
    ("handler", "onward", "target"),
    [("", "2", "2"), ("  [handler 0: block 3]", "2", "2"), ("", "0", "1")],
    ids=["it leaves the statement", "it is inside", "it comes back: the loop is around the statement"],
)
def test_an_empty_block_behind_a_protected_one(handler: str, onward: str, target: str) -> None:
    assert rows_of(threaded(PROTECTED.format(handler, onward)))[2] == f"-> {target} if v0 else 2"
