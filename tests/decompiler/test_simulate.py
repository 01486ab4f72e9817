"""Operations that are executed on a symbolic stack, and what is known of the graph."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Branch, ForIter, Graph
from depyf.decompiler.lift.simulate import lift, split_loop_edges
from depyf.decompiler.show.graph import text
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of
from tests.quality.forms.operations import read_listing

CODE = code_of("def f(a): return g")


def lifted(rows: str, *, restores: bool = False) -> Graph:
    return lift(read_listing(CODE, rows.replace("; ", "\n")), restores=restores)


# -- tests ------------------------------------------------------------------------------------

NEAR = {
    "what comes next": (":1 LOAD_FAST 'a'; {} -> 4; CONST 1; RETURN; 4: CONST 2; RETURN", True),
    "a jump back": (":1 NOP; 1: LOAD_FAST 'a'; {} -> 4; JUMP -> 1; 4: CONST 2; RETURN", None),
    "a jump back on a line of its own": (":1 NOP; 1: LOAD_FAST 'a'; {} -> 4; :2 JUMP -> 1; 4: CONST 2; RETURN", True),
    "a jump further on": (":1 LOAD_FAST 'a'; {} -> 4; JUMP -> 5; 4: NOP; 5: CONST 2; RETURN", True),
    "something before a jump back": (
        ":1 NOP; 1: LOAD_FAST 'a'; {} -> 5; NOP; JUMP -> 1; 5: CONST 2; RETURN",
        True,
    ),
    "another operation": (":1 LOAD_FAST 'a'; LOAD_FAST 'a'; {} -> 4; RETURN; 4: RETURN", True),
}
"""Code with a test, and whether it is known that what comes next in the code is the one way on."""


@pytest.mark.parametrize("what", NEAR)
@pytest.mark.parametrize(("jump", "is_true"), [("JUMP_IF_FALSE", True), ("JUMP_IF_TRUE", False)])
def test_which_way_comes_next_in_the_code(what: str, jump: str, is_true: bool) -> None:
    rows, known = NEAR[what]
    graph = lifted(rows.replace("NOP; ", "LOAD_GLOBAL 'g'; POP; ").format(jump))
    (branch,) = (block.exit for block in graph.live() if isinstance(block.exit, Branch))
    assert branch.near is (is_true if known else None)


def test_what_lies_below_a_test_is_noted() -> None:
    rows = "LOAD_GLOBAL 'g'; COPY 1; LOAD_FAST 'a'; JUMP_IF_FALSE -> 6; POP; POP; CONST 1; RETURN; 6: POP; RETURN"
    graph = lifted(rows)
    assert graph.waiting == {1: [0, 0]}


# -- handlers -----------------------------------------------------------------------------------

GUARDED = "LOAD_GLOBAL 'g'; protect 9 1; {}end; RETURN; 9: SWAP 2; {}; RERAISE 0"


def shown(graph: Graph) -> list[str]:
    return [" ".join(line.split()) for line in text(graph).splitlines()]


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ("LOAD_FAST 'a'; POP; ", []),
        ("LOAD_FAST 'a'; SWAP 2; POP; ", ["KEEP 2 v0", "KEEP 2 v4"]),
        ("LOAD_FAST 'a'; SWAP 2; SWAP 2; POP; ", ["KEEP 2 v0", "KEEP 2 v4", "KEEP 2 v0"]),
    ],
    ids=["it stays", "it changes", "it changes twice"],
)
def test_a_handler_finds_what_is_on_the_stack(rows: str, kept: list[str]) -> None:
    read, unread = (shown(lifted(GUARDED.format(rows, row))) for row in ("STORE_FAST 'a'", "POP"))
    assert [row for row in read if row.startswith("KEEP 2")] == kept
    assert not any(row.startswith("KEEP") for row in unread)


def test_a_block_that_is_reached_otherwise_too_has_one_before_it_for_the_handler() -> None:
    rows = "protect 3 0; LOAD_GLOBAL 'g'; JUMP_IF_FALSE -> 5; end; CONST 1; 3: STORE_FAST 'a'; 5: CONST 2; RETURN"
    graph = lifted(rows)
    assert shown(graph)[-2:] == ["block 4", "-> 2 (v0)"]


# -- loops --------------------------------------------------------------------------------------

HEAD = "block 0; v0 = LOAD_FAST 'a'; -> for v1 in v0: {}, else {}\nblock 1{}; return v0\nblock 2{}; return v0"


@pytest.mark.parametrize(
    ("edges", "split"),
    [
        (("1", "2", "", ""), "-> for v1 in v0: 1, else 2"),
        (("1 (v0)", "2", " (v5)", ""), "-> for v1 in v0: 3, else 2"),
        (("1", "2 (v0)", "", " (v5)"), "-> for v1 in v0: 1, else 3"),
        (("1 (v5)", "2", " (v5)", ""), "-> for v1 in v0: 1 (v5), else 2"),
    ],
    ids=["nothing", "to the body", "behind the loop", "what is there already"],
)
def test_values_that_a_loop_hands_on_are_assigned_in_a_block(edges: tuple[str, ...], split: str) -> None:
    graph = graph_of(HEAD.format(*edges), CODE)
    split_loop_edges(graph, [block.index for block in graph.live() if isinstance(block.exit, ForIter)])
    assert shown(graph)[2] == split
    assert shown(graph)[7:] in ([], ["block 3", "-> 1 (v0)"], ["block 3", "-> 2 (v0)"])
