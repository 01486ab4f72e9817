"""Parts of patterns that are merged only to be dropped."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.patterns.junk import drop_junk
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
BLOCKS = (
    "block 0; v1 = LOAD_FAST 'a'; v2 = LOAD_FAST 'a'; -> 1 (v1, v2)\n"
    "block 1 (v3, v4); {}-> 2 (v3, v4)\nblock 2 (v5, v6); {}return{}"
)


def merged(first: str, second: str, returned: str = "", parts: tuple[int, ...] = (1, 2)) -> list[list[int]]:
    """Return the phis that are left in both blocks."""
    graph = graph_of(BLOCKS.format(first, second, returned), CODE)
    drop_junk(graph, frozenset(parts))
    for block in graph.live():
        for edge in block.exit.edges():
            assert len(edge.args) == len(graph.block(edge.target).phis)
    left = {f"v{phi}" for block in graph.live() for phi in block.phis}
    gone = {"v3", "v4", "v5", "v6"} - left
    assert not any(row == f"POP {variable}" for row in rows_of(graph) for variable in gone)
    return [graph.block(1).phis, graph.block(2).phis]


@pytest.mark.parametrize(
    ("first", "second", "returned", "parts", "left"),
    [
        ("", "POP v5; POP v6; ", "", (1, 2, 3, 4), [[], []]),
        ("", "POP v5; POP v6; ", "", (1, 3), [[4], [6]]),
        ("", "POP v5; ", " v6", (1, 2, 3, 4), [[4], [6]]),
        ("", "v7 = CALL () v5; POP v7; POP v6; ", "", (1, 2, 3, 4), [[3], [5]]),
        ("v7 = CALL () v3; POP v7; ", "POP v5; POP v6; ", "", (1, 2, 3, 4), [[3], []]),
        ("", "POP v5; POP v6; ", "", (5,), [[3, 4], [6]]),
        ("", "POP v5; POP v6; ", "", (9,), [[3, 4], [5, 6]]),
    ],
)
def test_what_is_left(first: str, second: str, returned: str, parts: tuple[int, ...], left: list[list[int]]) -> None:
    assert merged(first, second, returned, parts) == left


def test_values_that_go_round() -> None:
    graph = graph_of(
        "block 0; v1 = LOAD_FAST 'a'; -> 1 (v1)\nblock 1 (v3); -> 1 (v3) if v9 else 2 (v3)\nblock 2 (v5); return v5",
        CODE,
    )
    drop_junk(graph, frozenset({1, 3}))
    assert [block.phis for block in graph.live()] == [[], [3], [5]]
