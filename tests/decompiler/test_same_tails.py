"""Copies of one place at the ends of blocks: `CALL () v1 @3` has the third place of the source."""

from __future__ import annotations

import re

import pytest

from depyf.bytecode.places import Place
from depyf.decompiler.graph.tac import Edge, Goto, Graph, Raise, Return
from depyf.decompiler.structure.same_tails import join_tails
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
MARK = re.compile(r" @(\d+)")
PLACES = 20


def graph_at(blocks: str) -> Graph:
    """Return the graph of some blocks, with the places that their rows say."""
    rows = [row for block in blocks.splitlines() for row in block.split("; ")[1:]]
    graph = graph_of(MARK.sub("", blocks), CODE)
    parts = [part for block in graph.live() for part in (*block.insts, block.exit)]
    for row, part in zip(rows, parts, strict=True):
        mark = MARK.search(row)
        if mark is not None:
            part.offset = 2 * int(mark[1])  # type: ignore[union-attr]
    graph.places = [Place(1, number, 1, number + 1) for number in range(PLACES)]
    return graph


def joined(blocks: str, markers: tuple[int, ...] = ()) -> Graph:
    graph = graph_at(blocks)
    ends = [block for block in graph.live() if block.index and isinstance(block.exit, (Raise, Return, Goto))]
    join_tails(graph, ends, {*markers})
    return graph


HEAD = "block 0; v9 = CALL (); -> 3 if v9 else 5\n"
RAISES = HEAD + (
    "block 3; v1 = LOAD_FAST 'a' @1; v2 = CALL () v1 @3; raise v2 @4\n"
    "block 5; v3 = LOAD_FAST 'b' @2; v4 = CALL () v3 @3; raise v4 @4"
)
DROPPED = HEAD + (
    "block 3 [stack v8]; POP v8; v1 = LOAD_FAST 'a' @1; v2 = CALL () v1 @3; raise v2 @4\n"
    "block 5; v3 = LOAD_FAST 'b' @2; v4 = CALL () v3 @3; raise v4 @4"
)
CARRIED = HEAD + (
    "block 3; v1 = LOAD_FAST 'a' @1; v2 = CALL () @3; raise v1 @4\n"
    "block 5; v3 = LOAD_FAST 'b' @2; v4 = CALL () @3; raise v3 @4"
)
NOTHING = HEAD + (
    "block 3; v1 = LOAD_FAST 'a' @1; v2 = CALL () v1 @3; return  @4\n"
    "block 5; v3 = LOAD_FAST 'b' @2; v4 = CALL () v3 @3; return  @4"
)
ONWARD = HEAD + (
    "block 3; v1 = LOAD_FAST 'a' @1; v2 = CALL () v1 @3; -> 7\n"
    "block 5; v3 = LOAD_FAST 'b' @2; v4 = CALL () v3 @3; -> 7\n"
    "block 7; v5 = CALL (); return v5"
)
EARLIER = (
    "block 0; v1 = LOAD_FAST 'a'; v3 = LOAD_FAST 'b'; v9 = CALL (); -> 3 if v9 else 5\n"
    "block 3; v2 = CALL () v1 @3; return v2 @4\nblock 5; v4 = CALL () v3 @3; return v4 @4"
)
VALUES = CARRIED.replace("raise", "return")


@pytest.mark.parametrize(
    ("blocks", "end"),
    [
        (RAISES, ["block 6 (v10)", "v2 = CALL () v10", "raise v2"]),
        (RAISES.replace("raise", "return"), ["block 6 (v10)", "v2 = CALL () v10", "return v2"]),
        (CARRIED, ["block 6 (v10)", "v2 = CALL ()", "raise v10"]),
        (NOTHING, ["block 6 (v10)", "v2 = CALL () v10", "return"]),
        (ONWARD, ["block 8 (v10)", "v2 = CALL () v10", "-> 7"]),
    ],
    ids=["they raise", "they return", "they raise what they carry", "they return nothing", "they lead on"],
)
def test_copies_get_one_end(blocks: str, end: list[str]) -> None:
    rows = rows_of(joined(blocks))
    assert rows[-len(end) :] == end
    index = end[0].split()[1]
    assert [row for row in rows if row.startswith(f"-> {index}")] == [f"-> {index} (v1)", f"-> {index} (v3)"]


def test_a_marker_that_a_copy_drops_does_not_part_it() -> None:
    assert rows_of(joined(DROPPED, markers=(8,)))[-3:] == ["block 6 (v10)", "v2 = CALL () v10", "raise v2"]


def test_the_place_of_a_copy_that_has_its_own() -> None:
    both = HEAD + (
        "block 3; v1 = LOAD_FAST 'a' @1; v2 = LOAD_FAST 'b' @1; v5 = CALL () v1 v2 @3; raise v5 @4\n"
        "block 5; v6 = LOAD_FAST 'c' @8; v7 = LOAD_FAST 'a' @8; v3 = LOAD_FAST 'b' @7; "
        "v4 = CALL () v7 v3 @3; raise v4 @4"
    )
    graph = joined(both)
    rows = ["block 6", "v1 = LOAD_FAST 'a'", "v2 = LOAD_FAST 'b'", "v5 = CALL () v1 v2", "raise v5"]
    assert rows_of(graph)[-5:] == rows
    assert [inst.offset for inst in graph.blocks[-1].insts] == [2, 14, 6]  # type: ignore[union-attr]


@pytest.mark.parametrize("blocks", [RAISES, NOTHING], ids=["they raise", "they return"])
def test_the_end_is_followed_by_nothing(blocks: str) -> None:
    graph = graph_at(blocks)
    ends = [graph.block(3), graph.block(5)]
    for block in ends:
        assert isinstance(block.exit, (Raise, Return))
        block.exit.beyond = Edge(0)
    join_tails(graph, ends, set())
    assert graph.block(6).exit.edges() == []


@pytest.mark.parametrize(
    ("blocks", "markers"),
    [
        (RAISES.replace("raise v4 @4", "raise v4 @5"), ()),
        (RAISES.replace("raise v4 @4", "raise v4"), ()),
        (RAISES.replace("raise v2", "return v2"), ()),
        (EARLIER, ()),
        (VALUES, ()),
        (DROPPED.replace("POP v8", "v7 = LOAD_FAST 'c' @6"), (8,)),
        (RAISES.replace("block 3", "block 3 [stack v8]"), (8,)),
        (ONWARD.replace("@3", "@5", 1), ()),
    ],
    ids=[
        "another place", "no place", "another exit", "no copy makes what differs", "values that are carried",
        "in a region", "in a loop", "another operation",
    ],
)
def test_other_ends_stay(blocks: str, markers: tuple[int, ...]) -> None:
    assert rows_of(joined(blocks, markers)) == rows_of(graph_at(blocks))
