"""Returns of one `return` with a conditional expression: graphs as text, with locations."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.one_return import join_one_return
from tests.decompiler.folding import rows_of
from tests.decompiler.located import located
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c): pass")
TEST = "block 0; v0 = LOAD_FAST 'a' @20-21; -> 1 if v0 else 2\n"
FIRST = "block 1; v1 = LOAD_FAST 'b' @15-16; return v1 @8-30\n"
SECOND = "block 2; v2 = LOAD_FAST 'c' @25-26; return v2 @8-30\n"
HANDLER = "block 9  [handler 0: block 10]; v9 = LOAD_FAST 'c'; return v9\nblock 10; reraise v50\n"
FAR = "block 4; POP_EXCEPT v8; return v1 @8-30\nblock 5; POP_EXCEPT v8; return v2 @8-30\n"
NEAR = TEST + FIRST.replace("return v1 @8-30", "-> 4") + SECOND.replace("return v2 @8-30", "-> 5")
ELSEWHERE = "block 7; v7 = LOAD_FAST 'c'; -> 4\n"


def joined(blocks: str) -> list[str] | None:
    """Return what is left of the blocks of a function with a handler, or None if nothing is joined."""
    graph = located(blocks + HANDLER, CODE)
    before = rows_of(graph)
    join_one_return(graph)
    after = rows_of(graph)
    return None if after == before else after


def test_the_arms_of_one_return_are_joined() -> None:
    assert joined(TEST + FIRST + SECOND) == [
        *("block 0", "v0 = LOAD_FAST 'a'", "-> 1 if v0 else 2"),
        *("block 1", "v1 = LOAD_FAST 'b'", "-> 11 (v1)"),
        *("block 2", "v2 = LOAD_FAST 'c'", "-> 11 (v2)"),
        *("block 11 (v51)", "return v51"),
    ]


def test_returns_behind_the_end_of_a_handler_are_joined() -> None:
    graph = joined(NEAR + FAR)
    assert graph is not None
    assert graph[-2:] == ["block 11 (v51)", "-> 4"]
    assert "block 5" not in graph


JOINED = {
    "a return that begins before the test and ends with it": TEST + FIRST + SECOND,
    "a drop with the location of the return": TEST + FIRST + SECOND.replace("return", "POP v8 @8-30; return"),
}
STAYS = {
    "an end without the location of its return": TEST + FIRST + SECOND.replace("return v2 @8-30", "return v2"),
    "a test without a location": TEST.replace(" @20-21", "") + FIRST + SECOND,
    "a call with the location of the return": (
        TEST
        + FIRST.replace("v1 = LOAD_FAST 'b' @15-16", "v1 = CALL () v8 @8-30")
        + SECOND.replace("v2 = LOAD_FAST 'c' @25-26", "v2 = CALL () v7 @8-30")
    ),
    "returns that begin behind the test": TEST + (FIRST + SECOND).replace("@8-30", "@22-30"),
    "returns that begin with the test": TEST + (FIRST + SECOND).replace("@8-30", "@20-30"),
    "returns that end within the test": TEST.replace("@20-21", "@20-35") + FIRST + SECOND,
    "one arm that raises": TEST + FIRST + SECOND.replace("return", "raise"),
    "an end that others reach": NEAR + FAR + ELSEWHERE,
    "values of a loop": TEST.replace("-> 1 if v0 else 2", "-> for v5 in v0: 1, else 2") + FIRST + SECOND,
    "a test of a value from before": (
        "block 0; v0 = LOAD_FAST 'a' @20-21; -> 3 (v0)\n" + FIRST + SECOND + "block 3 (v3); -> 1 if v3 else 2\n"
    ),
    "a value from before the test": TEST + FIRST.replace("return v1", "return v0") + SECOND,
    "values from before both": TEST + "block 1; return v0 @8-30\nblock 2; return v0 @8-30\n",
    "an end with more before it": TEST + FIRST.replace("return", "POP v8; return") + SECOND,
    "an end with other operations": TEST
    + FIRST.replace("return", "POP v8; return")
    + SECOND.replace("return", "POP_EXCEPT v8; return"),
}


@pytest.mark.parametrize("what", JOINED)
def test_what_is_of_one_return_is_joined(what: str) -> None:
    assert joined(JOINED[what]) is not None


@pytest.mark.parametrize("what", STAYS)
def test_what_is_not_surely_of_one_return_stays(what: str) -> None:
    assert joined(STAYS[what]) is None


def test_code_without_handlers_is_left_to_a_later_pass() -> None:
    graph = located(TEST + FIRST + SECOND, CODE)
    before = rows_of(graph)
    join_one_return(graph)
    assert rows_of(graph) == before
