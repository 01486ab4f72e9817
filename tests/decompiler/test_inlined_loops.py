"""Where comprehensions begin and end whose loop is in the enclosing code: blocks in, what is found out."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.inlined import Inlined, find_inlined, starting_blocks
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, x): return g")
SAVED = """block 0; v0 = LOAD_FAST 'a'; v1 = GET_ITER v0; v2 = LOAD_FAST_CLEAR 'x'; v3 = BUILD_LIST 0; -> 1
block 1; -> for v4 in v1: 2, else 3
block 2; STORE_FAST 'x' v4; v5 = LOAD_FAST 'x'; LIST_APPEND 2 v3 v5; -> 1
block 3; STORE_FAST 'x' v2; return v3
"""
BARE = """block 0; v0 = LOAD_FAST 'a'; v1 = GET_ITER v0; v3 = BUILD_LIST 0; -> 1
block 1; -> for v4 in v1: 2, else 3
block 2; STORE_DEREF 'x' v4; v5 = LOAD_DEREF 'x'; LIST_APPEND 2 v3 v5; -> 1
block 3; return v3
"""
"""A comprehension that saves no variable."""


def starting(text: str) -> list[int]:
    return [block.index for block in starting_blocks(graph_of(text, CODE))]


def found(text: str, index: int = 0) -> Inlined | None:
    graph = graph_of(text, CODE)
    return find_inlined(graph, graph.block(index))


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)
ASYNC = """block 0; v0 = LOAD_FAST 'a'; v1 = GET_AITER v0; v2 = LOAD_FAST_CLEAR 'x'; -> 1
block 1  [handler 0: block 6]; v8 = BUILD_LIST 0; -> 2
block 2  [handler 1: block 4]; v19 = GET_ANEXT v1; v20 = CONST None; v21 = YIELD_FROM v19 v20; -> 3
block 3  [handler 0: block 6]; STORE_FAST 'x' v21; v22 = LOAD_FAST 'x'; LIST_APPEND 2 v8 v22; -> 2
block 4  [handler 0: block 6]; END_ASYNC_FOR v1 v18; -> 5
block 5; STORE_FAST 'x' v2; return v8
block 6 (v4); POP v4; STORE_FAST 'x' v2; reraise v7
"""
LATE = """block 0; v0 = LOAD_FAST 'a'; v1 = LOAD_FAST_CLEAR 'x'; -> 1
block 1  [handler 0: block 5]; v7 = BUILD_LIST 0; v8 = GET_ITER v0; -> 2
block 2  [handler 0: block 5]; -> for v12 in v8: 3, else 4
block 3  [handler 0: block 5]; STORE_FAST 'x' v12; v13 = LOAD_FAST 'x'; LIST_APPEND 2 v7 v13; -> 2
block 4; STORE_FAST 'x' v1; return v7
block 5 (v3); POP v3; STORE_FAST 'x' v1; reraise v6
"""
"""3.15 makes the iterator behind the display."""


def test_a_comprehension_that_saves_a_variable() -> None:
    inlined = found(SAVED)
    assert inlined is not None
    assert starting(SAVED) == [0]
    assert (inlined.name, inlined.saved, inlined.cells) == ("<listcomp>", {2: "x"}, set())
    assert (inlined.first, inlined.rest.index, inlined.iterator, inlined.result) == (1, 3, 1, 3)
    assert rows_of(inlined.graph) == [
        "block 0", "v3 = BUILD_LIST 0", "v1 = LOAD_FAST '.0'", "-> 1",
        "block 1", "-> for v4 in v1: 2, else 4",
        "block 2", "STORE_FAST 'x' v4", "v5 = LOAD_FAST 'x'", "LIST_APPEND 2 v3 v5", "-> 1",
        "block 4", "return v3",
    ]


def test_an_asynchronous_comprehension() -> None:
    inlined = found(ASYNC)
    assert inlined is not None
    assert (inlined.first, inlined.iterator, inlined.result) == (2, 1, 8)
    assert rows_of(inlined.graph)[-2:] == ["block 8", "return v8"]


def test_an_iterator_that_is_made_behind_the_display() -> None:
    inlined = found(LATE)
    assert inlined is not None
    assert inlined.get_iter is not None
    assert (inlined.iterator, inlined.result) == (0, 7)


@pytest.mark.parametrize(
    ("display", "append", "name"),
    [
        ("BUILD_LIST 0", "LIST_APPEND 2", "<listcomp>"),
        ("BUILD_SET 0", "SET_ADD 2", "<setcomp>"),
        ("BUILD_MAP 0", "MAP_ADD 2", "<dictcomp>"),
    ],
)
def test_a_comprehension_that_saves_nothing(display: str, append: str, name: str) -> None:
    text = BARE.replace("BUILD_LIST 0", display).replace("LIST_APPEND 2", append)
    inlined = found(text)
    assert starting(text) == [0]
    assert inlined is not None
    assert (inlined.name, inlined.saved, inlined.result) == (name, {}, 3)


NO_START = {
    "a display of items": (BARE, "v3 = BUILD_LIST 0", "v3 = BUILD_LIST 1 v0"),
    "another operation behind the display": (BARE, "-> 1\nblock 1", "v6 = LOAD_FAST 'a'; -> 1\nblock 1"),
    "a test behind the display": (BARE, "-> 1\nblock 1", "-> 1 if v0 else 3\nblock 1"),
}


@pytest.mark.parametrize("case", NO_START)
def test_other_blocks_begin_no_comprehension(case: str) -> None:
    assert starting(changed(*NO_START[case])) == []


NEVER = """block 0; v0 = LOAD_FAST 'a'; v1 = GET_ITER v0; v3 = BUILD_LIST 0; -> 1
block 1; -> for v4 in v1: 2, else 3
block 2; STORE_FAST 'x' v4; -> 1
block 3; return v3
"""
"""The condition of the comprehension is constantly false."""
NOT_NEVER = {
    "a test behind the display": ("-> 1\nblock 1", "-> 1 if v0 else 3\nblock 1"),
    "a display of items": ("v3 = BUILD_LIST 0", "v3 = BUILD_LIST 1 v0"),
    "no display": ("v3 = BUILD_LIST 0", "v3 = LOAD_FAST 'a'"),
    "no iterator": ("v1 = GET_ITER v0", "v1 = CALL () v0"),
    "a loop over something else": ("for v4 in v1", "for v4 in v0"),
    "the display is iterated over": ("v1 = GET_ITER v0; v3 = BUILD_LIST 0", "v3 = BUILD_LIST 0; v1 = GET_ITER v3"),
    "one operation": ("v0 = LOAD_FAST 'a'; v1 = GET_ITER v0; ", ""),
}


def test_a_display_that_is_never_filled() -> None:
    assert starting(NEVER) == [0]
    late = changed(NEVER, "v1 = GET_ITER v0; v3 = BUILD_LIST 0", "v3 = BUILD_LIST 0; v1 = GET_ITER v0")
    assert starting(late) == [0]


@pytest.mark.parametrize("case", NOT_NEVER)
def test_other_loops_are_statements(case: str) -> None:
    assert starting(changed(NEVER, *NOT_NEVER[case])) == []


NOT_FOUND = {
    "a display of items": (SAVED, "v3 = BUILD_LIST 0", "v3 = BUILD_LIST 1 v0"),
    "another operation": (SAVED, "v3 = BUILD_LIST 0; -> 1", "v3 = BUILD_LIST 0; v6 = CALL () v0; -> 1"),
    "another operation behind the iterator": (LATE, "GET_ITER v0; -> 2", "GET_ITER v0; v9 = CALL () v8; -> 2"),
    "no loop": (SAVED, "-> for v4 in v1: 2, else 3", "-> 2"),
    "a loop with an operation": (SAVED, "block 1; ", "block 1; v9 = LOAD_FAST 'a'; "),
    "a variable that is not restored": (SAVED, "STORE_FAST 'x' v2; return", "return"),
    "a loop that is entered elsewhere": (SAVED, "STORE_FAST 'x' v2; return v3", "STORE_FAST 'x' v2; -> 2"),
    "a loop that others lead past": (SAVED, "return v3", "return v3\nblock 4; -> 3"),
    "what follows has a phi": (SAVED, "else 3\n", "else 3 (v1)\n"),
    "an asynchronous loop without a handler": (ASYNC, "block 2  [handler 1: block 4]", "block 2"),
    "a handler that ends no loop": (ASYNC, "END_ASYNC_FOR v1 v18; -> 5", "POP v18; -> 5"),
    "a handler without operations": (ASYNC, "END_ASYNC_FOR v1 v18; -> 5", "-> 5"),
}


@pytest.mark.parametrize("case", NOT_FOUND)
def test_other_code_is_no_comprehension(case: str) -> None:
    text = changed(*NOT_FOUND[case])
    if "phi" in case:
        text = changed(text, "block 3; STORE_FAST 'x' v2", "block 3 (v9); STORE_FAST 'x' v2")
    assert found(text) is None


def test_a_variable_without_a_cell_is_loaded_plainly() -> None:
    """The enclosing code may have a cell for a variable of the same name."""
    text = changed(SAVED, "v5 = LOAD_FAST 'x'", "v5 = LOAD_CLOSURE 'x'; v6 = LOAD_CLOSURE 'a'")
    inlined = found(text)
    assert inlined is not None
    assert rows_of(inlined.graph)[8:10] == ["v5 = LOAD_FAST 'x'", "v6 = LOAD_CLOSURE 'a'"]


def test_the_handler_around_the_loop_is_no_part_of_it() -> None:
    """What protects the code behind the loop, too, is another statement's."""
    text = SAVED
    for index in (2, 3):
        text = text.replace(f"block {index};", f"block {index} [handler 0: block 5];")
    text += "block 5; v7 = LOAD_FAST 'a'; STORE_FAST 'a' v7; reraise v8\n"
    inlined = found(text)
    assert inlined is not None
    assert "block 5" not in rows_of(inlined.graph)
