"""`except*` clauses: what becomes of the handler that keeps a list of exceptions."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.regions.except_star import restore_except_star
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return b, c, E, F")
BODY = """block 0  [handler 0: block 2]; v1 = LOAD_FAST 'a'; POP v1; -> 1
block 1; return
"""
FIRST = """block 2  [handler 1: block 18]; v8 = PUSH_EXC_INFO v0; v9 = BUILD_LIST 0; v10 = LOAD_GLOBAL 'E'; \
v11 v12 = CHECK_EG_MATCH v0 v10; v13 = CONST None; v14 = IS False v12 v13; -> 7 if v14 else 3
block 3  [handler 1: block 18]; STORE_FAST 'e' v12; -> 4
block 4  [handler 2: block 6]; v25 = LOAD_GLOBAL 'b'; POP v25; -> 5
block 5  [handler 1: block 18]; v26 = CONST None; STORE_FAST 'e' v26; DELETE_FAST 'e'; -> 8
block 6  [handler 1: block 18]; v54 = CONST None; STORE_FAST 'e' v54; DELETE_FAST 'e'; LIST_APPEND 3 v9 v24; -> 8
block 7  [handler 1: block 18]; POP v12; -> 8
"""
SECOND = """block 8  [handler 1: block 18]; v31 = LOAD_GLOBAL 'F'; \
v32 v33 = CHECK_EG_MATCH v11 v31; v34 = CONST None; v35 = IS False v33 v34; -> 13 if v35 else 9
block 9  [handler 1: block 18]; POP v33; -> 10
block 10  [handler 3: block 12]; v46 = LOAD_GLOBAL 'c'; POP v46; -> 11
block 11  [handler 1: block 18]; LIST_APPEND 1 v9 v32; -> 14
block 12  [handler 1: block 18]; LIST_APPEND 3 v9 v45; LIST_APPEND 1 v9 v32; -> 14
block 13  [handler 1: block 18]; POP v33; LIST_APPEND 1 v9 v32; -> 14
"""
END = """block 14  [handler 1: block 18]; v50 = PREP_RERAISE_STAR v0 v9; v51 = CONST None; v52 = IS False v50 v51; \
-> 15 if v52 else 17
block 15  [handler 1: block 18]; POP v50; -> 16
block 16; POP_EXCEPT v8; return
block 17; POP_EXCEPT v8; reraise v50
block 18 (v4); POP_EXCEPT v4; reraise v7
"""
WHOLE = BODY + FIRST + SECOND + END
CLAUSES = """block 2 [handler 1: block 18]
v8 = PUSH_EXC_INFO v0
v10 = LOAD_GLOBAL 'E'
v55 = CHECK_EG_MATCH v0 v10
-> 3 if v55 else 8
block 3 [handler 1: block 18]
STORE_FAST 'e' v0
-> 4
block 4 [handler 1: block 18]
v25 = LOAD_GLOBAL 'b'
POP v25
-> 5
block 5 [handler 1: block 18]
-> 15
block 8 [handler 1: block 18]
v31 = LOAD_GLOBAL 'F'
v56 = CHECK_EG_MATCH v0 v31
-> 9 if v56 else 14
block 9 [handler 1: block 18]
-> 10
block 10 [handler 1: block 18]
v46 = LOAD_GLOBAL 'c'
POP v46
-> 15
block 14 [handler 1: block 18]
reraise v0
block 15 [handler 1: block 18]
-> 16"""


def restored(text: str) -> list[str]:
    graph = graph_of(text, CODE)
    restore_except_star(graph)
    return rows_of(graph)


def changed(old: str, new: str) -> str:
    assert old in WHOLE
    return WHOLE.replace(old, new)


def test_clauses() -> None:
    assert "\n".join(restored(WHOLE)[6:-6]) == CLAUSES


SAME = {
    "a test for `is not`": (
        "v35 = IS False v33 v34; -> 13 if v35 else 9",
        "v35 = IS True v33 v34; -> 9 if v35 else 13",
    ),
    "a type that takes two blocks": (
        "v31 = LOAD_GLOBAL 'F'; v32",
        "v31 = LOAD_GLOBAL 'F'; -> 20\nblock 20  [handler 1: block 18]; v32",
    ),
    "code that drops values between two clauses": (
        "DELETE_FAST 'e'; -> 8\nblock 6",
        "DELETE_FAST 'e'; -> 20\nblock 20  [handler 1: block 18]; POP v8; -> 8\nblock 6",
    ),
    "one place that appends the rest": (
        "LIST_APPEND 1 v9 v32; -> 14", "-> 20",
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_other_code_of_the_same_clauses(case: str) -> None:
    text = changed(*SAME[case])
    if "-> 20" in text and "block 20" not in text:
        text += "block 20  [handler 1: block 18]; LIST_APPEND 1 v9 v32; -> 14\n"
    rows = restored(text)
    assert [row for row in rows if "CHECK_EG_MATCH" in row] == [
        "v55 = CHECK_EG_MATCH v0 v10", "v56 = CHECK_EG_MATCH v0 v31"
    ]
    assert "reraise v0" in rows


FROM_TEST = FIRST[FIRST.index("v11 v12") : FIRST.index("\nblock 3")]
LAST = "POP v33; LIST_APPEND 1 v9 v32; -> 14"
FAILED = "block 7  [handler 1: block 18]; POP v12; -> 8"
TYPE = "v31 = LOAD_GLOBAL 'F'; v32 v33 = CHECK_EG_MATCH v11 v31"
NEAR = {
    "no test": (FROM_TEST, "-> 1"),
    "no clause": (FROM_TEST, "-> 14"),
    "a loop before the test": (FROM_TEST, "-> 20"),
    "a test that decides nothing": ("-> 13 if v35 else 9", "-> 13"),
    "a test of all exceptions": (
        TYPE, "v31 = LOAD_GLOBAL 'F'; -> 21\nblock 21; v32 v33 = CHECK_EG_MATCH v0 v31"
    ),
    "a place that appends nothing": (LAST, "-> 14"),
    "a place that appends something else": (LAST, "LIST_APPEND 1 v9 v33; -> 14"),
    "places that append to another list": ("LIST_APPEND 1 v9 v32", "LIST_APPEND 1 v10 v32"),
    "a place that leads elsewhere too": (LAST, "LIST_APPEND 1 v9 v32; -> 14 if v32 else 1"),
    "a failed test that ends the function": (FAILED, "block 7; POP v12; return"),
    "a failed test that never ends": (FAILED, "block 7  [handler 1: block 18]; POP v12; -> 7"),
}
"""What is replaced, and by what."""


@pytest.mark.parametrize("case", NEAR)
def test_another_handler_keeps_its_list(case: str) -> None:
    text = changed(*NEAR[case]) + ("block 20; v40 = CONST 1; -> 20\n" if "loop" in case else "")
    assert "v9 = BUILD_LIST 0" in restored(text)


def test_a_handler_without_a_list_stays() -> None:
    text = changed("v9 = BUILD_LIST 0; ", "")
    assert restored(text) == rows_of(graph_of(text, CODE))


def test_a_handler_whose_code_is_gone() -> None:
    graph = graph_of(WHOLE, CODE)
    graph.blocks[2] = None
    restore_except_star(graph)
    assert "PREP_RERAISE_STAR" in "".join(rows_of(graph))


def test_a_list_that_nobody_fills() -> None:
    text = WHOLE.replace("-> 14", "-> 1")
    assert "v9 = BUILD_LIST 0" in restored(text)


def test_the_end_drops_what_was_raised() -> None:
    text = changed("block 15  [handler 1: block 18]; POP v50;", "block 15; POP v1; STORE_FAST 'a' v50; POP v50;")
    rows = restored(text)
    assert rows[rows.index("block 15") + 1 :][:3] == ["POP v1", "STORE_FAST 'a' v50", "-> 16"]


@pytest.mark.parametrize(
    ("end", "is_unbound"),
    [
        ("STORE_FAST 'e' v26; DELETE_FAST 'e'", True),
        ("STORE_FAST 'e' v26; DELETE_FAST 'f'", False),
        ("STORE_FAST 'e' v25; DELETE_FAST 'e'", False),
        ("POP v26; DELETE_FAST 'e'", False),
    ],
)
def test_the_name_of_a_clause_is_unbound(end: str, is_unbound: bool) -> None:
    rows = restored(changed("STORE_FAST 'e' v26; DELETE_FAST 'e'", end))
    place = rows.index("block 5 [handler 1: block 18]")
    assert (rows[place + 1] == "-> 15") == is_unbound


@pytest.mark.parametrize(
    ("first", "given"),
    [
        ("STORE_FAST 'e' v12", ["STORE_FAST 'e' v0", "-> 4"]),
        ("POP v12", ["-> 4"]),
        ("POP v11", ["POP v11", "-> 4"]),
        ("STORE_FAST 'e' v10", ["STORE_FAST 'e' v10", "-> 4"]),
    ],
)
def test_a_body_takes_the_exception(first: str, given: list[str]) -> None:
    rows = restored(changed("STORE_FAST 'e' v12", first))
    place = rows.index("block 3 [handler 1: block 18]")
    assert rows[place + 1 :][: len(given)] == given


def test_a_body_that_does_nothing() -> None:
    rows = restored(changed("block 3  [handler 1: block 18]; STORE_FAST 'e' v12; -> 4", "block 3; return"))
    assert rows[rows.index("block 3") + 1] == "return"


def test_the_protection_of_other_code_stays() -> None:
    """A handler that does not append to the list is the author's own."""
    inner = changed("LIST_APPEND 3 v9 v24; -> 8", "-> 8")
    assert "block 4 [handler 2: block 6]" in restored(inner)
    assert "block 4 [handler 1: block 18]" in restored(WHOLE)
