"""How blocks are reached, while regions are taken out: graphs as text."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Edge, Goto
from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.regions.ways import Ways, leaves_handler
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
GRAPH = (
    "block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\nblock 1 [handler 0: block 4]; v1 = CALL () v0; -> 3\n"
    "block 2 [handler 0: block 4]; POP v0; -> 3\nblock 3; return v0\nblock 4; reraise v9\n"
)


def ways_of(shown: str) -> Ways:
    return Ways(read_graph(shown.replace("; ", "\n  "), CODE))


def test_sources_and_protection() -> None:
    ways = ways_of(GRAPH)
    assert [sorted(ways.sources(index)) for index in range(5)] == [[], [0], [0], [1, 2], []]
    assert sorted(ways.protected(0)) == [1, 2]
    assert ways.handlers(4) == [0]
    assert ways.handlers(3) == []


def test_what_has_changed_is_no_source_any_more() -> None:
    ways = ways_of(GRAPH)
    graph = ways.graph
    graph.block(1).exit = Goto(Edge(2, []))
    graph.block(1).handler = -1
    assert list(ways.sources(3)) == [2]
    assert list(ways.protected(0)) == [2]
    assert list(ways.sources(2)) == [0]
    ways.note(graph.block(1))
    assert sorted(ways.sources(2)) == [0, 1]
    graph.blocks[2] = None
    assert list(ways.sources(3)) == []
    assert list(ways.protected(0)) == []


def test_both_parts_of_a_block_that_is_cut_are_known() -> None:
    ways = ways_of(GRAPH)
    rest = ways.split(ways.graph.block(1), 0)
    assert sorted(ways.sources(3)) == [2, rest.index]
    assert list(ways.sources(rest.index)) == [1]
    assert sorted(ways.protected(0)) == [1, 2, rest.index]


def joined(shown: str, end: int = -1, index: int = 1) -> str:
    ways = ways_of(shown)
    ways.graph.end = end
    ways.join(ways.graph.block(index))
    return " ".join(text(ways.graph).split())


LINE = "block 0; v0 = CALL (); -> 1\nblock 1; v1 = CALL (); -> 2\nblock 2; v2 = CALL (); -> 3\nblock 3; return v2\n"
APART = {
    "it has other ways in": LINE.replace("-> 1\n", "-> 1 if v0 else 2\n"),
    "it takes values": LINE.replace("-> 2\nblock 2;", "-> 2 (v1)\nblock 2 (v5);"),
    "it is a handler": LINE.replace("block 0;", "block 0 [handler 0: block 2];"),
    "it is the first": LINE.replace("-> 2\n", "-> 0\n"),
    "it is the block itself": LINE.replace("-> 2\n", "-> 1\n"),
    "it is protected otherwise": LINE.replace("block 2;", "block 2 [handler 0: block 3];"),
    "an exception is suppressed there": LINE.replace("v1 = CALL ()", "v1 = PUSH_EXC_INFO v9"),
}


def test_what_only_a_block_leads_to_is_appended() -> None:
    assert joined(LINE) == "block 0 v0 = CALL () -> 1 block 1 v1 = CALL () v2 = CALL () return v2"
    assert joined(LINE, 3) == "block 0 v0 = CALL () -> 1 block 1 v1 = CALL () v2 = CALL () -> 3 block 3 return v2"


@pytest.mark.parametrize("why", APART)
def test_what_stays_apart(why: str) -> None:
    assert joined(APART[why]) == " ".join(APART[why].replace("; ", " ").split())


def test_what_is_joined_is_known() -> None:
    ways = ways_of(LINE)
    ways.graph.end = 3
    ways.join(ways.graph.block(1))
    assert list(ways.sources(3)) == [1]


def left(shown: str, doubtful: list[int], end: int = -1) -> list[int]:
    ways = ways_of(shown)
    ways.graph.end = end
    ways.prune(doubtful)
    return [block.index for block in ways.graph.live()]


CIRCLE = "block 0; v0 = CALL (); -> {}\nblock 1; -> 2\nblock 2; v1 = CALL (); -> 1 if v1 else 3\nblock 3; return v0\n"


def test_what_is_reached_stays() -> None:
    assert left(LINE, [1, 2, 3]) == [0, 1, 2, 3]
    assert left(CIRCLE.format(1), [1, 2]) == [0, 1, 2, 3]
    assert left(GRAPH, [1, 2, 3, 4]) == [0, 1, 2, 3, 4]


def test_what_is_reached_no_more_goes_with_what_only_that_leads_to() -> None:
    assert left(LINE.replace("-> 1\n", "-> 3\n"), [1]) == [0, 3]
    assert left(LINE.replace("-> 1\n", "return v0\n"), [1]) == [0]
    assert left(LINE.replace("-> 1\n", "return v0\n"), [1], end=3) == [0, 3]
    assert left(LINE.replace("-> 1\n", "return v0\n"), [0, 3]) == [0, 1, 2, 3]


def test_a_circle_goes_if_all_of_it_is_doubtful() -> None:
    assert left(CIRCLE.format(3), [1, 2]) == [0, 3]
    assert left(CIRCLE.format(3), [2]) == [0, 3]
    assert left(CIRCLE.format(3), [1]) == [0, 1, 2, 3]


def test_a_handler_is_reached_from_what_it_protects() -> None:
    assert left(GRAPH.replace(" [handler 0: block 4]", "", 1), [4]) == [0, 1, 2, 3, 4]
    unprotected = "block 0; return\nblock 1 [handler 0: block 2]; return\nblock 2; reraise v9\n"
    assert left(unprotected, [1]) == [0]
    assert left(unprotected, [2]) == [0, 1, 2]


HANDLER = "block 0; v0 = PUSH_EXC_INFO v9; v1 = CALL (); -> 1\nblock 1 [stack v7]; return\n"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (HANDLER, True),
        (HANDLER.replace("v7", "v0"), False),
        (HANDLER.replace("v0 = PUSH_EXC_INFO v9", "v0 = CALL ()"), False),
        (HANDLER.replace("v1 = CALL ()", "POP_EXCEPT v0"), False),
        (HANDLER.replace("v1 = CALL ()", "POP_EXCEPT v8"), True),
        (HANDLER.replace("v1 = CALL ()", "POP v0"), True),
        ("block 0; -> 1\nblock 1 [stack v7]; return\n", False),
    ],
)
def test_where_a_handler_is_over(shown: str, expected: bool) -> None:
    graph = ways_of(shown).graph
    assert leaves_handler(graph.block(0), graph.block(1)) is expected
