"""Which exception is being handled in each block."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.dispatch.levels import NOTHING, Levels, Way, pops, pushes
from depyf.errors import DecompilationError
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
HANDLED = """block 0  [handler 0: block 2]; v0 = LOAD_GLOBAL 'g'; v1 = CALL () v0; return v1
block 2; v3 = PUSH_EXC_INFO v2; -> 3
block 3 [stack v3]  [handler 1: block 7]; v4 = LOAD_GLOBAL 'g'; -> 4
block 4 [stack v3]; POP_EXCEPT v3; -> 5
block 5; v6 = CONST None; return v6
block 7 [stack v3]; {}"""
AGAIN = "reraise v9"


def levels_of(end: str = AGAIN, *, gathers: bool = False) -> Levels:
    return Levels(graph_of(HANDLED.format(end), CODE), gathers=gathers)


def test_the_level_of_a_block() -> None:
    levels = levels_of()
    by_block = {block.index: levels.level(block) for block in levels.graph.live() if block.index < 8}
    assert by_block == {0: 0, 2: 1, 3: 1, 4: 1, 5: 0, 7: 1}


def test_which_blocks_may_be_joined() -> None:
    """One that begins or ends the handling of an exception stays apart."""
    levels = levels_of()
    assert sorted(set(levels.groups()) & set(range(8))) == [0, 3, 5, 7]
    assert levels.groups()[3] == (1, Way(1, NOTHING))
    assert levels.groups()[5] == (0, Way(NOTHING, NOTHING))


def test_an_exception_that_is_thrown_loses_its_traceback() -> None:
    thrown = {gathers: levels_of(gathers=gathers) for gathers in (True, False)}
    protected = HANDLED.format(AGAIN).replace("block 7 [stack v3];", "block 7 [stack v3]  [handler 2: block 8];")
    graph = graph_of(f"{protected}\nblock 8 [stack v3]; reraise v8", CODE)
    levels = Levels(graph, gathers=True)
    assert levels.way(graph.block(7)).thrown
    assert not levels.way(graph.block(3)).thrown
    assert not any(level.way(block).thrown for level in thrown.values() for block in level.graph.live())
    assert not any(Levels(graph, gathers=False).way(block).thrown for block in graph.live())


def test_paths_that_handle_different_numbers() -> None:
    with pytest.raises(DecompilationError, match="handles 1 exceptions, its successor 5 handles 0"):
        Levels(graph_of(HANDLED.format(AGAIN).replace("POP_EXCEPT v3; -> 5", "-> 5"), CODE), gathers=False)


@pytest.mark.parametrize(
    ("rows", "begins", "ends"),
    [
        ("-> 1", False, False),
        ("v3 = PUSH_EXC_INFO v2; -> 1", True, False),
        ("v4 = LOAD_FAST 'a'; v3 = PUSH_EXC_INFO v2; -> 1", False, False),
        ("POP_EXCEPT v3; -> 1", False, True),
        ("POP_EXCEPT v3; return", False, False),
        ("POP_EXCEPT v3; v4 = LOAD_FAST 'a'; -> 1", False, False),
        ("v3 = PUSH_EXC_INFO v2; POP_EXCEPT v3; -> 1", True, True),
    ],
)
def test_blocks_that_begin_or_end_it(rows: str, begins: bool, ends: bool) -> None:
    block = graph_of(f"block 0; {rows}\nblock 1; return", CODE).block(0)
    assert (pushes(block), pops(block)) == (begins, ends)


@pytest.mark.parametrize(("old", "more"), [("PUSH_EXC_INFO v2; -> 3", 1), ("v4 = LOAD_GLOBAL 'g'; -> 4", 0)])
def test_the_test_of_a_pattern_at_the_start_of_a_handler_is_apart(old: str, more: int) -> None:
    first, _, last = old.rpartition("; ")
    graph = graph_of(HANDLED.format(AGAIN).replace(old, f"{first}; v8 = MATCH_SEQUENCE v4; POP v8; {last}"), CODE)
    Levels(graph, gathers=False)
    assert len(graph.live()) == len(levels_of().graph.live()) + more
    rows = rows_of(graph)
    assert rows[rows.index("v3 = PUSH_EXC_INFO v2") + 1].startswith("-> ")
