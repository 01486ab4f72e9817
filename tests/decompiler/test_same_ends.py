"""Copies of one statement at the ends of the code: blocks 1 and 2 of a graph as text, and the blocks they share."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.same_ends import join_same_ends
from tests.decompiler.folding import rows_of
from tests.decompiler.located import located
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c): pass")
HEAD = "block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\n"
LOOP = (
    "block 0; v0 = LOAD_FAST 'a'; -> 5\nblock 5; -> for v4 in v0: 6, else 7\nblock 6; -> 1 if v4 else 2\n"
    "block 7; return\n"
)
TWICE = ("", "")


def joined(blocks: str) -> list[list[str]]:
    """Return what is left of blocks, each with its lines."""
    graph = located(blocks, CODE)
    join_same_ends(graph)
    rows_of_blocks: list[list[str]] = []
    for row in rows_of(graph):
        if row.startswith("block "):
            rows_of_blocks.append([])
        rows_of_blocks[-1].append(row)
    return rows_of_blocks


def copies(rows: str, head: str = HEAD, heads: tuple[str, str] = TWICE) -> str:
    """Return a graph whose blocks 1 and 2 have the same operations; each `w` and its digit is a value of the block's.

    `heads` are the ends of the heads of the two blocks.
    """
    return head + "".join(f"block {n}{heads[n - 1]}; {rows.replace('w', f'v{n}')}\n" for n in (1, 2))


def ends(blocks: str) -> list[list[str]]:
    """Return what is left of blocks 1 and 2, without their heads, and the blocks that they share."""
    before = [line for line in blocks.splitlines() if line[6] not in "12"]
    return [rows[1:] for rows in joined(blocks) if not any(line.startswith(f"{rows[0]};") for line in before)]


ONE = ":7 w1 = CONST 1; return w1  :7"
SHARED = [":7 v21 = CONST 1", "return v21"]
UNBIND = ":7 w2 = CONST None; :7 STORE_FAST 'e' w2; :7 DELETE_FAST 'e'; "
UNBOUND = [":7 v22 = CONST None", ":7 STORE_FAST 'e' v22", ":7 DELETE_FAST 'e'"]
END = ":7 POP_EXCEPT v0; "

WHOLE = {
    "one line": (copies(ONE), SHARED),
    "the end of a clause": (copies(END + UNBIND + ONE), [":7 POP_EXCEPT v0", *UNBOUND, *SHARED]),
    "a part of the subject is stored": (
        copies(":7 STORE_FAST 'x' v0; " + ONE, heads=("  [stack v0]", "  [stack v0]")),
        [":7 STORE_FAST 'x' v0", *SHARED],
    ),
}
BEGINS_LATER = {
    "a value from before is stored": (copies(":7 STORE_FAST 'x' v0; " + ONE), [":7 STORE_FAST 'x' v0"], SHARED),
    "a value from before is dropped": (copies(":7 POP v0; " + ONE), [":7 POP v0"], SHARED),
    "the end of a handler": (copies(END + ONE), [":7 POP_EXCEPT v0"], SHARED),
    "the end of a handler on another line": (
        copies(":6 POP_EXCEPT v0; " + UNBIND + ONE), [":6 POP_EXCEPT v0"], [*UNBOUND, *SHARED],
    ),
    "a drop before a name is deleted": (copies(":7 POP v0; " + UNBIND + ONE), [":7 POP v0"], [*UNBOUND, *SHARED]),
    "a local name is stored, and a global one deleted": (
        copies(END + UNBIND.replace("DELETE_FAST", "DELETE_NAME") + ONE),
        [":7 POP_EXCEPT v0"],
        [*UNBOUND[:2], ":7 DELETE_NAME 'e'", *SHARED],
    ),
    "another name is deleted": (
        copies(END + UNBIND.replace("DELETE_FAST 'e'", "DELETE_FAST 'f'") + ONE),
        [":7 POP_EXCEPT v0"],
        [*UNBOUND[:2], ":7 DELETE_FAST 'f'", *SHARED],
    ),
    "a drop before another statement": (copies(":6 POP v0; " + ONE), [":6 POP v0"], SHARED),
}
STAYS = {
    "lines are not known": copies(ONE.replace("  :7", "").replace(":7 ", "")),
    "a line of the return alone": copies(ONE.replace(":7 ", "")),
    "the exit of a loop that returns at once": copies(":7 POP v0; return v0  :7", LOOP),
    "one of them in a loop": copies(ONE, LOOP, ("  [stack v0]", "")),
    "one of them in a loop whose iterator it uses": (
        LOOP + "block 1  [stack v0]; :6 CALL () v0; " + ONE.replace("w", "v1") + "\nblock 2; " + ONE.replace("w", "v2")
    ),
    "other exceptions raised again": (
        HEAD + "block 1; v1 = CALL () v0 @4-9; reraise v50\nblock 2; v2 = CALL () v0 @4-9; reraise v51"
    ),
}


@pytest.mark.parametrize("what", WHOLE)
def test_what_is_of_one_line_is_joined(what: str) -> None:
    blocks, shared = WHOLE[what]
    assert ends(blocks) == [["-> 2"], shared]


@pytest.mark.parametrize("what", BEGINS_LATER)
def test_what_needs_an_earlier_value_is_not_of_the_statement(what: str) -> None:
    blocks, before, shared = BEGINS_LATER[what]
    assert ends(blocks) == [[*before, "-> 3"], [*before, "-> 3"], shared]


@pytest.mark.parametrize("what", STAYS)
def test_what_is_not_surely_one_statement_stays(what: str) -> None:
    graph = located(STAYS[what], CODE)
    before = rows_of(graph)
    join_same_ends(graph)
    assert rows_of(graph) == before


def test_the_exit_of_a_loop_joins_its_return() -> None:
    assert ends(copies(":6 POP v0; " + ONE, LOOP)) == [["-> 2"], [":6 POP v0", "-> 8"], SHARED]


def test_the_exit_of_a_loop_is_not_of_the_statement_behind_it() -> None:
    rows = ends(copies(":6 POP v0; :6 w2 = CONST 2; :6 STORE_FAST 'x' w2; " + ONE, LOOP))
    assert rows == [["-> 2"], [":6 POP v0", "-> 9"], SHARED, [":6 v22 = CONST 2", ":6 STORE_FAST 'x' v22", "-> 8"]]


def test_two_statements_are_joined_one_by_one() -> None:
    assert ends(copies(":6 DELETE_FAST 'x'; " + ONE)) == [["-> 2"], [":6 DELETE_FAST 'x'", "-> 3"], SHARED]


def test_a_loop_that_one_of_them_has_left_is_not_around_both() -> None:
    first, second = ONE.replace("w", "v1"), ONE.replace("w", "v2")
    assert ends(f"{LOOP}block 1  [stack v0]; :6 POP v0; {first}\nblock 2; {second}") == [[":6 POP v0", "-> 2"], SHARED]


def test_the_ends_of_a_finally_body_are_joined() -> None:
    rows = ends(HEAD + "block 1; v1 = CALL () v0 @4-9; reraise v50\nblock 2; v2 = CALL () v0 @4-9; reraise v50")
    assert rows == [["-> 3"], ["-> 3"], ["v1 = CALL () v0", "reraise v50"]]


def test_edges_lead_past_what_is_empty() -> None:
    assert joined(copies(ONE))[0][-1] == "-> 2 if v0 else 2"


def test_edges_that_hand_over_values_stay() -> None:
    handled = "  [handler 0: block 9]"
    rows = "v{0} = CALL () v3{0} @4-9; return v{0} @1-20"
    blocks = joined(
        f"block 0{handled}; v0 = LOAD_FAST 'a'; -> 1 (v0) if v0 else 2 (v0)\n"
        f"block 1 (v31){handled}; {rows.format(1)}\nblock 2 (v32){handled}; {rows.format(2)}\nblock 9; reraise v50"
    )
    assert [block[-1] for block in blocks[:3]] == ["-> 1 (v0) if v0 else 2 (v0)", "-> 10 (v31)", "-> 10 (v32)"]


LOAD = "block {0}; :7 v{0} = LOAD_FAST 'b'{1}; return v{0}  :7\n"
SAME, OTHER, NONE = " @4-5", " @8-9", ""


@pytest.mark.parametrize(
    ("places", "count"),
    [((SAME, SAME), 1), ((SAME, NONE), 1), ((NONE, SAME), 1), ((NONE, NONE), 1), ((SAME, OTHER), 2)],
)
def test_loads_at_two_places_of_a_line_are_two_statements(places: tuple[str, str], count: int) -> None:
    graph = located(HEAD + "".join(LOAD.format(number, place) for number, place in enumerate(places, 1)), CODE)
    join_same_ends(graph)
    assert sum("LOAD_FAST 'b'" in row for row in rows_of(graph)) == count


@pytest.mark.parametrize("order", [(NONE, SAME, OTHER), (SAME, NONE, OTHER), (OTHER, NONE, SAME), (NONE, OTHER, SAME)])
def test_a_load_without_a_place_is_of_the_first_statement_that_fits(order: tuple[str, ...]) -> None:
    head = "block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 4\n"
    tail = "block 4; v4 = LOAD_FAST 'c'; -> 2 if v4 else 3\n"
    graph = located(head + "".join(LOAD.format(number, place) for number, place in enumerate(order, 1)) + tail, CODE)
    join_same_ends(graph)
    assert sum("LOAD_FAST 'b'" in row for row in rows_of(graph)) == 2


def test_the_second_half_of_an_instruction_has_no_place() -> None:
    rows = "block {0}; :7 v{0} = CONST 1; :7 STORE_FAST 'x' v{0}{1}; :7 v5{0} = LOAD_FAST 'x'; return v5{0}  :7\n"
    graph = located(HEAD + rows.format(1, SAME) + rows.format(2, OTHER), CODE)
    for block in map(graph.block, (1, 2)):
        block.insts[2].offset = block.insts[1].offset
    join_same_ends(graph)
    assert sum("LOAD_FAST 'x'" in row for row in rows_of(graph)) == 1


HANDED = "block {0}; v{0} = LOAD_FAST 'b'{1}; -> 3{2}\n"
REST = "block 3 (v30); return v30\n"
ARGS = (" (v1)", " (v2)")


def handed(places: tuple[str, str], args: tuple[str, str] = ARGS, rest: str = REST, head: str = HEAD) -> int:
    """Return how many loads are left of two whose values are handed over."""
    graph = located(head + "".join(map(HANDED.format, (1, 2), places, args)) + rest, CODE)
    join_same_ends(graph)
    return sum("LOAD_FAST 'b'" in row for row in rows_of(graph))


def test_a_value_of_one_place_is_handed_over_once() -> None:
    assert handed((SAME, SAME)) == 1


@pytest.mark.parametrize("places", [(SAME, OTHER), (SAME, NONE), (NONE, NONE)])
def test_values_of_other_places_are_handed_over_each(places: tuple[str, str]) -> None:
    assert handed(places) == 2


def test_what_hands_over_nothing_stays() -> None:
    assert handed((SAME, SAME), ("", ""), "block 3; v30 = CONST 1; return v30\n") == 2


def test_a_block_without_operations_hands_over_another_value() -> None:
    rest = REST + "block 4; v4 = LOAD_FAST 'c'; -> 2 if v4 else 5\nblock 5; -> 3 (v0)\n"
    assert handed((SAME, SAME), rest=rest, head=HEAD.replace("else 2", "else 4")) == 1
