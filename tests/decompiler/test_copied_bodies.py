"""Blocks that do the same, and bodies of cases that are one."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Branch
from depyf.decompiler.structure.patterns.copied import depth, join_copied_bodies, same_bodies, same_ways_on
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b): return g, h")
BASE = """block 0; v0 = LOAD_FAST 'a'; -> 1
block 1 [stack v0]; v8 = CONST 'x'; v1 = COMPARE '==' v0 v8; -> 3 if v1 else 2
block 2 [stack v0, v0]; v9 = CONST 'y'; v2 = COMPARE '==' v0 v9; -> 4 if v2 else 5
block 3 [stack v0]; POP v0; v3 = LOAD_GLOBAL 'g'; return v3
block 4 [stack v0]; POP v0; v4 = LOAD_GLOBAL 'g'; return v4
block 5 [stack v0]; POP v0; v5 = LOAD_GLOBAL 'h'; return v5"""


def joined(blocks: str, waiting: tuple[int, ...] = (0, 0)) -> bool:
    graph = graph_of(blocks, CODE)
    graph.waiting = {2: list(waiting)}
    join_copied_bodies(graph)
    exit_ = graph.block(1).exit
    return isinstance(exit_, Branch) and exit_.if_true.target == 4


def test_alternatives_of_a_case() -> None:
    assert joined(BASE)
    assert joined(BASE.replace("3 [stack v0]; POP v0;", "3 [stack v0];"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v1 = COMPARE '==' v0 v8", "v1 = COMPARE '<' v0 v8"),
        ("v1 = COMPARE '==' v0 v8", "v1 = BINARY '==' v0 v8"),
        ("v2 = COMPARE '==' v0 v9", "v2 = COMPARE '<' v0 v9"),
        ("v2 = COMPARE '==' v0 v9", "v2 = BINARY '==' v0 v9"),
        ("v2 = COMPARE '==' v0 v9", "v2 = COMPARE '==' v8 v9"),
        ("-> 3 if v1 else 2", "-> 3 if v0 else 2"),
        ("-> 4 if v2 else 5", "-> 4"),
        ("4 [stack v0]; POP v0; v4 = LOAD_GLOBAL 'g'", "4 [stack v0]; POP v0; v4 = LOAD_GLOBAL 'h'"),
        ("block 5 [stack v0]; POP v0; ", "block 5 [stack v0, v0, v0]; POP v0; "),
    ],
)
def test_two_cases(old: str, new: str) -> None:
    assert old in BASE
    assert not joined(BASE.replace(old, new))


def test_two_cases_by_the_values_on_the_stack() -> None:
    assert not joined(BASE, waiting=(0,))
    assert not joined(BASE, waiting=())


def test_bodies_without_a_drop_are_two() -> None:
    assert not joined(BASE.replace("POP v0; v3", "v3").replace("POP v0; v4", "v4"))


def test_how_often_a_subject_is_on_the_stack() -> None:
    graph = graph_of(BASE, CODE)
    assert [depth(block, 0) for block in graph.blocks] == [0, 1, 2, 0, 0, 0]
    assert depth(None, 0) == 0


# -- blocks that do the same ----------------------------------------------------------------------

ONE = "v3 = LOAD_GLOBAL 'g'; v4 = CALL () v3 v1; POP v4; return v4"


def alike(first: str, second: str, heads: tuple[str, str] = ("", ""), rest: str = "") -> tuple[bool, bool]:
    graph = graph_of(f"block 0{heads[0]}; {first}\nblock 1{heads[1]}; {second}{rest}", CODE)
    return same_bodies(graph.block(0), graph.block(1)), same_ways_on(graph, graph.block(0), graph.block(1))


@pytest.mark.parametrize(
    ("two", "same"),
    [
        (ONE, True),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v5 v1; return v6", True),
        ("v5 = LOAD_GLOBAL 'h'; v6 = CALL () v5 v1; return v6", False),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v5 v2; return v6", False),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v1 v1; return v6", False),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v5 v5; return v6", False),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v5; return v6", False),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v5 v1; return v5", False),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v5 v1; return v1", False),
        ("v5 = LOAD_GLOBAL 'g'; v6 = CALL () v5 v1; raise v6", False),
        ("v5 = LOAD_GLOBAL 'g'; return v5", False),
        (f"v7 = CONST 1; {ONE}", False),
        (f"{ONE.removesuffix('return v4')}v7 = CONST 1; return v4", False),
    ],
)
def test_blocks_that_do_the_same(two: str, same: bool) -> None:
    assert alike(ONE, two) == (same, same)


def test_phis_and_handlers_tell_blocks_apart() -> None:
    assert alike(ONE, ONE, (" (v9)", "")) == alike(ONE, ONE, ("", " (v9)")) == (False, False)
    behind = "\nblock 2; reraise v9"
    assert alike(ONE, ONE, ("", "  [handler 0: block 2]"), behind) == (False, False)
    assert alike(ONE, ONE, ("  [handler 0: block 2]",) * 2, behind) == (True, True)


@pytest.mark.parametrize(
    ("first", "second", "rest", "same"),
    [
        ("-> 2", "-> 2", "return v1\nreturn v1", True),
        ("-> 2", "-> 3", "return v1\nreturn v1", True),
        ("-> 2", "-> 3", "return v1\nreturn v2", False),
        ("v5 = CONST 1; -> 2", "v6 = CONST 1; -> 3", "return v1\nreturn v1", True),
        ("v5 = CONST 1; -> 2", "v6 = CONST 2; -> 3", "return v1\nreturn v1", False),
        ("-> 2 (v1)", "-> 3", "return v1\nreturn v1", False),
        ("-> 2", "-> 3 (v1)", "return v1\nreturn v1", False),
        ("-> 2", "return v1", "return v1\nreturn v1", False),
        ("return v1", "-> 2", "return v1\nreturn v1", False),
        ("-> 2", "-> 3", "-> 4\n-> 4\nreturn v1", True),
        ("-> 0", "-> 2", "-> 3\nreturn v1", False),
    ],
)
def test_ways_on_that_are_the_same(first: str, second: str, rest: str, same: bool) -> None:
    behind = "".join(f"\nblock {number}; {rows}" for number, rows in enumerate(rest.split("\n"), 2))
    assert alike(first, second, rest=behind)[1] == same
