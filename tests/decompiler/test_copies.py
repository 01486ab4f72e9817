"""Copies in the middle of an expression: graphs as text, what is joined, and what only looks like a copy."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.copies import join_copies
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c): pass")


def joined(blocks: str, in_loop: int | None = None) -> list[str]:
    """Return the lines of a graph after the pass; a loop is around one block."""
    graph = graph_of(blocks, CODE)
    join_copies(graph, {block.index: (0,) if block.index == in_loop else () for block in graph.live()})
    return rows_of(graph)


def stays(blocks: str, in_loop: int | None = None) -> bool:
    """Return whether the pass leaves a graph alone."""
    return joined(blocks, in_loop) == rows_of(graph_of(blocks, CODE))


# -- f(b if a else c) ------------------------------------------------------------------

HEAD = "block 0; v1 = LOAD_GLOBAL 'f'; v9 = LOAD_GLOBAL 'g'; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\n"
ONE = "block 1  [stack v1]; v2 = LOAD_FAST 'b'; v4 = CALL () v1 v2; return v4\n"
TWO = "block 2  [stack v1]; v3 = LOAD_FAST 'c'; v5 = CALL () v1 v3; return v5\n"
END = "block 3; return\nblock 4; v7 = CONST 1; return v7\n"


def goes_on(first: str, second: str) -> str:
    """Return a test whose arms call `f`, and then go on."""
    return HEAD + ONE.replace("return v4", first) + TWO.replace("return v5", second) + END


def handled(block: str) -> str:
    return block.replace("[stack v1]", "[stack v1]  [handler 0: block 9]")


JOINED = {
    "returns": HEAD + ONE + TWO,
    "raises": HEAD + ONE.replace("return", "raise") + TWO.replace("return", "raise"),
    "both lead to one place": goes_on("-> 3", "-> 3"),
    "another value is turned into text": (
        HEAD + ONE.replace("v4 =", "v6 = CONVERT 'r' v9; POP v6; v4 =")
        + TWO.replace("v5 =", "v8 = LOAD_FAST 'a'; v5 =")
    ),
}
NO_COPIES = {
    "another exit": HEAD + ONE + TWO.replace("return", "raise"),
    "another place behind": goes_on("-> 3", "-> 4"),
    "a value is handed over behind": (
        HEAD + ONE.replace("return v4", "-> 3 (v9)") + TWO.replace("return v5", "-> 3 (v9)") + "block 3 (v7); return v7"
    ),
    "a handler around the first": HEAD + handled(ONE) + TWO + "block 9; reraise v50",
    "a value is handed over to the first": (
        HEAD.replace("-> 1", "-> 1 (v0)") + ONE.replace("block 1", "block 1 (v8)") + TWO
    ),
    "a value is handed over to the second": (
        HEAD.replace("else 2", "else 2 (v0)") + ONE + TWO.replace("block 2", "block 2 (v8)")
    ),
    "nothing from before is used": (HEAD + ONE + TWO).replace("  [stack v1]", ""),
    "two values differ": (
        HEAD + ONE.replace("v1 v2", "v1 v2 v6").replace("v4 =", "v6 = CONST 1; v4 =")
        + TWO.replace("v1 v3", "v1 v3 v8").replace("v5 =", "v8 = CONST 2; v5 =")
    ),
    "another number of values": HEAD + ONE.replace("v1 v2", "v1 v2 v9") + TWO,
    "a field of a formatted text": (
        HEAD + ONE.replace("v1 v2", "v1 v6").replace("v4 =", "v6 = CONVERT 'r' v2; v4 =")
        + TWO.replace("v1 v3", "v1 v8").replace("v5 =", "v8 = CONVERT 's' v3; v5 =")
    ),
    "one arm": HEAD.replace("else 2", "else 1") + ONE,
}


@pytest.mark.parametrize("what", JOINED)
def test_two_arms_share_the_rest_of_an_expression(what: str) -> None:
    rows = joined(JOINED[what])
    assert sum("CALL () v1 " in row for row in rows) == 1
    assert sum(row.endswith(("(v2)", "(v3)")) for row in rows) == 2


@pytest.mark.parametrize("what", NO_COPIES)
def test_arms_that_differ_in_more_than_a_value_stay(what: str) -> None:
    assert stays(NO_COPIES[what])


def test_an_arm_in_a_loop_stays() -> None:
    assert stays(HEAD + ONE + TWO, in_loop=1)


# -- f(a or b if c else d) -------------------------------------------------------------

TESTS = (
    "block 0; v1 = LOAD_GLOBAL 'f'; v0 = LOAD_FAST 'a'; -> 1 if v0 else 5\n"
    "block 1  [stack v1]; v2 = LOAD_FAST 'b'; -> 3 (v2) if v2 else 4\n"
    "block 4  [stack v1]; v3 = LOAD_FAST 'c'; -> 3 (v3)\n"
)
SHARED = "block 3 (v10)  [stack v1]; v6 = CALL () v1 v10; return v6\n"
COPY = "block 5  [stack v1]; v5 = LOAD_FAST 'a'; v7 = CALL () v1 v5; return v7\n"
BEHIND = ("block 6; return\n", "block 7 (v20); return v20\n")


def ends(shared: str, copy: str) -> str:
    """Return the graph whose ends lead on."""
    blocks = TESTS + SHARED.replace("return v6", shared) + COPY.replace("return v7", copy)
    return blocks + "".join(block for block in BEHIND if f"-> {block[6]}" in blocks)


@pytest.mark.parametrize("blocks", [TESTS + SHARED + COPY, ends("-> 6", "-> 6"), ends("raise v6", "raise v7")])
def test_a_copy_leads_to_the_end_with_the_value(blocks: str) -> None:
    rows = joined(blocks)
    assert rows[rows.index("block 5") + 1 :][:2] == ["v5 = LOAD_FAST 'a'", "-> 3 (v5)"]


OTHER_ENDS = {
    "another exit": ends("return v6", "raise v7"),
    "another place behind": ends("-> 6", "-> 7 (v7)"),
    "values are handed over": ends("-> 7 (v6)", "-> 7 (v7)"),
    "a handler around it": TESTS + SHARED + handled(COPY) + "block 9; reraise v50",
    "another operation": TESTS + SHARED + COPY.replace("v7 = CALL () v1 v5", "v7 = BINARY '+' v1 v5"),
    "another constant": (
        TESTS + SHARED.replace("v6 = CALL () v1 v10", "v11 = CONST 1; v6 = CALL () v1 v10 v11")
        + COPY.replace("v7 = CALL () v1 v5", "v12 = CONST 2; v7 = CALL () v1 v5 v12")
    ),
    "another value from before": (
        TESTS.replace("v0 =", "v9 = LOAD_GLOBAL 'g'; v0 =") + SHARED
        + COPY.replace("v7 = CALL () v1", "v7 = CALL () v9")
    ),
    "two values are handed over": (
        TESTS.replace("3 (v2)", "3 (v2, v2)").replace("3 (v3)", "3 (v3, v3)") + SHARED.replace("(v10)", "(v10, v11)")
        + COPY
    ),
    "nothing from before is used": (TESTS + SHARED + COPY).replace("  [stack v1]", ""),
}


@pytest.mark.parametrize("what", OTHER_ENDS)
def test_an_end_that_differs_in_more_than_the_value_stays(what: str) -> None:
    assert stays(OTHER_ENDS[what])


def test_an_end_in_a_loop_stays() -> None:
    assert stays(TESTS + SHARED + COPY, in_loop=5)


# -- a < b < c -------------------------------------------------------------------------

CHAIN = (
    "block 0; v1 = LOAD_FAST 'a'; v2 = LOAD_FAST 'b'; v3 = COMPARE '<' v1 v2; -> 1 if v3 else 2\n"
    "block 1  [stack v2]; v4 = LOAD_FAST 'c'; v5 = COMPARE '<' v2 v4; -> 3 if v5 else 4\n"
    "block 2; POP v2; v6 = LOAD_GLOBAL 'f'; v7 = LOAD_GLOBAL 'g'; v8 = CALL () v6 v7; return v8\n"
    "block 3; return\n"
    "block 4; v16 = LOAD_GLOBAL 'f'; v17 = LOAD_GLOBAL 'g'; v18 = CALL () v16 v17; return v18\n"
)
PAST = CHAIN.replace("POP v2; ", "")


def test_both_failures_of_a_chain_lead_to_one_place() -> None:
    assert joined(CHAIN)[4] == "-> 1 if v3 else 4"


def test_a_failure_past_the_drop_is_the_one_that_stays() -> None:
    assert "-> 3 if v5 else 2" in joined(PAST)


OTHER_CHAINS = {
    "other values": CHAIN.replace("CALL () v16 v17", "CALL () v17 v16"),
    "other values past the drop": PAST.replace("CALL () v16 v17", "CALL () v17 v16"),
    "more operations": CHAIN.replace("return v18", "POP v18; return v17"),
    "another exit": CHAIN.replace("return v18", "raise v18"),
    "another place": (
        CHAIN.replace("return v8", "-> 5").replace("return v18", "-> 6") + "block 5; return\nblock 6; return"
    ),
    "another value is compared": CHAIN.replace("COMPARE '<' v2 v4", "COMPARE '<' v1 v4"),
    "another value is dropped": CHAIN.replace("POP v2", "POP v1"),
    "a handler around one": CHAIN.replace("block 4;", "block 4  [handler 0: block 9];") + "block 9; reraise v50",
    "a test of one value": CHAIN.replace("COMPARE '<' v1 v2", "UNARY 'not' v2"),
    "no test of a comparison": CHAIN.replace("-> 1 if v3", "-> 1 if v1"),
}


@pytest.mark.parametrize("what", OTHER_CHAINS)
def test_what_is_no_failure_of_one_chain_stays(what: str) -> None:
    assert stays(OTHER_CHAINS[what])
