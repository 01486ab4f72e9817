"""The first block of a `try` that is the head of a loop in it and of one around it."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.regions.entries import part_entries
from depyf.decompiler.structure.regions.table import Regions
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
BLOCKS = """block 0; v0 = CALL (); -> 2
block 2  [handler 0: block 9]; v1 = CALL (); -> 3
block 3  [handler 0: block 9]; v2 = CALL (); -> 2 if v2 else 4
block 4; v3 = CALL (); -> 2 if v3 else 5
block 5; return v0
block 9; v6 = PUSH_EXC_INFO v5; v7 = CHECK_EXC_MATCH v5 v0; -> 5 if v7 else 10
block 10; reraise v5"""


def parted(blocks: str) -> list[str]:
    graph = graph_of(blocks, CODE)
    part_entries(Regions(graph))
    return rows_of(graph)


def not_parted(blocks: str) -> list[str]:
    """Return a graph with joined blocks alone."""
    graph = graph_of(blocks, CODE)
    Regions(graph)
    return rows_of(graph)


def test_the_loop_around_begins_before_the_try() -> None:
    """Block 11 stands before it."""
    rows = parted(BLOCKS)
    assert rows[:3] == ["block 0", "v0 = CALL ()", "-> 11"]
    assert "-> 2 if v2 else 4" in rows and "-> 11 if v3 else 5" in rows
    assert rows[-2:] == ["block 11", "-> 2"]


def test_a_try_at_the_start_of_the_code() -> None:
    """The code still begins with block 0."""
    blocks = BLOCKS.removeprefix("block 0; v0 = CALL (); -> 2\n")
    rows = parted(blocks.replace("block 2 ", "block 0 ").replace("-> 2", "-> 0"))
    assert rows[:2] == ["block 0", "-> 11"]
    assert "-> 11 if v2 else 4" in rows and "-> 0 if v3 else 5" in rows


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v7 = CHECK_EXC_MATCH v5 v0; -> 5 if v7 else 10", "v7 = CALL (); reraise v5"),
        ("-> 2 if v2 else 4", "-> 4"),
        ("-> 2 if v3 else 5", "-> 5"),
        ("block 0;", "block 0  [handler 0: block 9];"),
        ("-> 2 if v3 else 5", "-> 3 if v3 else 2"),
    ],
    ids=["a finally", "no loop in it", "no loop around it", "it begins earlier", "two entries"],
)
def test_another_try_stays(old: str, new: str) -> None:
    blocks = BLOCKS.replace(old, new)
    assert blocks != BLOCKS
    assert parted(blocks) == not_parted(blocks)


def test_a_first_block_that_takes_values_stays() -> None:
    blocks = BLOCKS.replace("-> 2", "-> 2 (v0)").replace("block 2 ", "block 2 (v8) ")
    assert parted(blocks) == not_parted(blocks)
