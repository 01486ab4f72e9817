"""Copies of the code after a test whose value is kept: graphs as text."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.successors import predecessors
from depyf.decompiler.structure.value_copies import MOST, copies_of, join_at, join_value_copies, operand
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.located import located
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c): pass")
TEST = "block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\n"
MADE = "block 1; v1 = LOAD_FAST 'b'; return v1\n"
KEPT = "block 2; return v0\n"
HANDS = "block 0; v0 = LOAD_FAST 'a'; -> 4 (v0) if v0 else 1\n"
HANDS_ANOTHER = HANDS.replace("4 (v0)", "4 (v9)")
CALLED = "block 1; v1 = LOAD_FAST 'b'; v7 = CALL () v1; return v7\n"
CALLS = "block 4 (v4); v6 = CALL () v4; return v6\n"
DROPPED = "block 1; v1 = LOAD_FAST 'b'; POP v1; return\n"
DROPS = "block 4 (v4); POP v4; return\n"
RAISED = "block 1; v1 = LOAD_FAST 'b'; raise v8, v1\n"
FOLLOWED = "block 3; v3 = LOAD_FAST 'c'; -> {}\n"


def joined(blocks: str) -> list[str] | None:
    """Return what is left of some blocks, or None if nothing is joined."""
    graph = graph_of(blocks, CODE)
    before = rows_of(graph)
    join_value_copies(graph)
    after = rows_of(graph)
    return None if after == before else after


def test_returns_of_a_kept_and_of_another_value_are_joined() -> None:
    assert joined(TEST + MADE + KEPT) == [
        *("block 0", "v0 = LOAD_FAST 'a'", "-> 1 if v0 else 3 (v0)"),
        *("block 1", "v1 = LOAD_FAST 'b'", "-> 3 (v1)"),
        *("block 3 (v2)", "return v2"),
    ]


def test_drops_before_the_end_of_the_statement_stay_with_the_kept_value() -> None:
    assert joined(TEST + MADE + "block 2; POP v9; return v0\n") == [
        *("block 0", "v0 = LOAD_FAST 'a'", "-> 1 if v0 else 2"),
        *("block 1", "v1 = LOAD_FAST 'b'", "-> 3 (v1)"),
        *("block 2", "POP v9", "-> 3 (v0)"),
        *("block 3 (v10)", "return v10"),
    ]


def test_code_that_takes_the_tested_value_at_a_merge_is_joined() -> None:
    assert joined(HANDS + CALLED + CALLS) == [
        *("block 0", "v0 = LOAD_FAST 'a'", "-> 4 (v0) if v0 else 1"),
        *("block 1", "v1 = LOAD_FAST 'b'", "-> 4 (v1)"),
        *("block 4 (v4)", "v6 = CALL () v4", "return v6"),
    ]


def test_only_the_kept_value_of_a_raise_is_replaced() -> None:
    rows = joined(TEST + RAISED + "block 2; raise v8, v0\n")
    assert rows is not None
    assert rows[-2:] == ["block 3 (v9)", "raise v8, v9"]


def test_an_operand_with_two_ends_hands_over_both_values() -> None:
    rows = joined(
        "block 0; v0 = LOAD_FAST 'a'; -> 4 (v0) if v0 else 1\n"
        "block 1; v1 = LOAD_FAST 'b'; -> 2 if v1 else 3\nblock 2; v5 = CALL () v1; return v5\n"
        "block 3; v3 = LOAD_FAST 'c'; v7 = CALL () v3; return v7\n" + CALLS
    )
    assert rows is not None
    assert rows[2:6] == ["-> 4 (v0) if v0 else 1", "block 1", "v1 = LOAD_FAST 'b'", "-> 4 (v1) if v1 else 3"]
    assert "-> 4 (v3)" in rows


JOINED = {
    "drops of what a test and an operand make": HANDS + DROPPED + FOLLOWED.format("4 (v3)") + DROPS,
    "calls of what tests make": HANDS + CALLED + CALLS,
    "drops of another value than the merge's, and no other way": (
        HANDS + "block 1; v1 = LOAD_FAST 'b'; POP v9; return v1\nblock 4 (v4); POP v9; return v4\n"
    ),
    "a value that is made just before": (TEST + "block 1; v1 = LOAD_FAST 'b'; -> 3\n" + KEPT + "block 3; return v1\n"),
    "a value that is made two blocks before": (
        TEST + "block 1; v1 = LOAD_FAST 'b'; -> 3\n" + KEPT + "block 3; POP v9; return v1\n"
    ),
    "a value that is made before two ways": (
        TEST + "block 1; v1 = LOAD_FAST 'b'; -> 3 if v1 else 4\n" + KEPT + "block 3; return v1\nblock 4; POP v9; -> 3\n"
    ),
    "a value that ways hand over": (
        TEST + "block 1; v1 = LOAD_FAST 'b'; -> 3 (v1)\n" + KEPT + "block 3 (v5); return v5\n"
    ),
    "a test of a value that a block takes": "block 0; v0 = LOAD_FAST 'a'; -> 3 (v0)\n"
    + CALLED
    + ("block 3 (v3); -> 4 (v3) if v3 else 1\n" + CALLS),
}
STAYS = {
    "ends that are one already": TEST
    + "block 1; v1 = LOAD_FAST 'b'; -> 3 (v1)\nblock 2; -> 3 (v0)\n"
    + ("block 3 (v3); return v3\n"),
    "an end that others reach": TEST + MADE + KEPT + FOLLOWED.format("2"),
    "code before the end that is no drop": (
        TEST + "block 1; v1 = CALL () v9; return v1\nblock 2; v5 = CALL () v9; return v0\n"
    ),
    "what follows the drop of the kept value": TEST + MADE + "block 2; POP v0; return v0\n",
    "another value than the tested one": HANDS_ANOTHER + CALLED + CALLS,
    "drops of what tests alone make": HANDS + DROPPED + DROPS,
    "an end without the tested value": TEST + MADE + "block 2; return v9\n",
    "the same value in both": TEST + "block 1; return v0\n" + KEPT,
    "a value that no block of the operand makes": TEST + "block 1; return v9\n" + KEPT,
    "ends with other handlers": (TEST + MADE + "block 2  [handler 0: block 3]; return v0\nblock 3; reraise v50\n"),
    "an end that tests": TEST + MADE + "block 2; -> 3 if v0 else 4\nblock 3; return v0\nblock 4; return v9\n",
    "an end that hands values over": (
        HANDS + "block 1; v1 = LOAD_FAST 'b'; -> 3 (v1)\nblock 3 (v3); return v3\nblock 4 (v4); -> 3 (v4)\n"
    ),
    "an end that takes values": TEST.replace("else 2", "else 2 (v9)") + MADE + "block 2 (v8); return v0\n",
    "an end with another exit": TEST + MADE + "block 2; raise v0\n",
    "a longer end": TEST + "block 1; return v9\nblock 2; POP v0; POP v9; return v0\n",
    "an end that raises": TEST + MADE + "block 2; raise v0\n",
}


@pytest.mark.parametrize("what", JOINED)
def test_copies_with_another_value_are_joined(what: str) -> None:
    assert joined(JOINED[what]) is not None


@pytest.mark.parametrize("what", STAYS)
def test_what_is_no_copy_with_another_value_stays(what: str) -> None:
    assert joined(STAYS[what]) is None


ARMS = (
    "block 0; v0 = LOAD_FAST 'a' @1-2; -> 6 (v0) if v0 else 1\nblock 1; v1 = LOAD_FAST 'c' @3-4; -> 2 if v1 else 3\n"
    "block 2; v2 = LOAD_FAST 'b' @5-6; return v2 @0-9\nblock 3; v3 = LOAD_FAST 'b' @7-8; -> 4 if v3 else 5\n"
    "block 4; v4 = LOAD_FAST 'b' @5-6; return v4 @0-9\nblock 5; v5 = LOAD_FAST 'c' @8-9; return v5 @0-9\n"
    "block 6 (v6); return v6 @0-9\n"
)
DISTINCT = {
    "no location": ARMS.replace(" @5-6", ""),
    "another location": ARMS.replace("v4 = LOAD_FAST 'b' @5-6", "v4 = LOAD_FAST 'b' @6-7"),
    "another operation": ARMS.replace("v4 = LOAD_FAST 'b' @5-6", "v4 = LOAD_FAST 'c' @5-6"),
    "a value that is handed over": ARMS.replace("-> 4 if v3", "-> 4 (v3) if v3").replace("block 4;", "block 4 (v8);"),
}


def led(blocks: str) -> list[str]:
    graph = located(blocks, CODE)
    join_value_copies(graph)
    return rows_of(graph)


def test_copies_of_a_whole_block_are_one() -> None:
    rows = led(ARMS)
    assert rows.count("v4 = LOAD_FAST 'b'") + rows.count("v2 = LOAD_FAST 'b'") == 1
    assert ("-> 2 if v3 else 5" in rows) is not ("-> 4 if v1 else 3" in rows)
    assert rows[-2:] == ["block 6 (v6)", "return v6"]


@pytest.mark.parametrize("what", DISTINCT)
def test_blocks_that_are_not_one_of_the_source_stay_apart(what: str) -> None:
    rows = led(DISTINCT[what])
    assert "block 2" in rows
    assert "block 4" in rows or "block 4 (v8)" in rows
    assert rows.count("-> 6 (v4)") == 1


HANDED = "block 1 (v1); -> 3 (v1, v8)\nblock 2; POP v0; v2 = LOAD_FAST 'b'; return v2\nblock 3 (v3, v4); return v3\n"
PAST = {
    "a test": ("-> 1 (v0) if v0 else 2", "-> 3 (v0, v8) if v0 else 2", {0: [], 1: [], 2: [0], 3: [0, 2]}),
    "a way on": ("-> 1 (v0)", "-> 3 (v0, v8)", {0: [], 1: [], 2: [], 3: [0, 2]}),
    "a loop": (
        "-> for v9 in v0: 1 (v0), else 2",
        "-> for v9 in v0: 1 (v0), else 2",
        {0: [], 1: [0], 2: [0], 3: [1, 2]},
    ),
    "both arms": (
        "-> 1 (v0) if v0 else 1 (v9)",
        "-> 3 (v0, v8) if v0 else 3 (v9, v8)",
        {0: [], 1: [], 2: [], 3: [0, 2]},
    ),
}


@pytest.mark.parametrize("what", PAST)
def test_ways_are_led_past_a_block_that_only_hands_over(what: str) -> None:
    exit_, after, preceding = PAST[what]
    graph = graph_of(f"block 0; v0 = LOAD_FAST 'a'; {exit_}\n{HANDED}", CODE)
    before = predecessors(graph)
    join_at(graph, graph.block(3), [(graph.block(2), 2, 2)], before)
    rows = rows_of(graph)
    assert rows[2] == after
    assert "-> 3 (v2)" in rows
    assert {index: sorted(blocks) for index, blocks in before.items()} == preceding


def test_a_block_that_does_something_is_not_led_past() -> None:
    graph = graph_of(f"block 0; v0 = LOAD_FAST 'a'; -> 1 (v0)\n{HANDED.replace('; -> 3', '; POP v0; -> 3')}", CODE)
    join_at(graph, graph.block(3), [(graph.block(2), 2, 2)], predecessors(graph))
    assert rows_of(graph)[2] == "-> 1 (v0)"


@pytest.mark.parametrize(("length", "count"), [(MOST, MOST), (MOST + 1, 0)])
def test_an_operand_has_few_blocks(length: int, count: int) -> None:
    chain = "".join(f"block {number}; -> {number + 1}\n" for number in range(length + 1))
    graph = graph_of(f"{chain}block {length + 1}; return\n", CODE)
    blocks = operand(graph, graph.block(0).exit.edges()[0], graph.block(length + 1))
    assert len(blocks) == count


def test_a_value_in_a_copy_is_told() -> None:
    graph = graph_of(TEST + MADE + KEPT, CODE)
    first, second = graph.block(2), graph.block(1)
    assert copies_of((first, 0, 0), [second], graph) == [(second, 1, 1)]
