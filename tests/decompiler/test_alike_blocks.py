"""Blocks that do the same become one where patterns are tested: graphs as text."""

from __future__ import annotations

import pytest

from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.dispatch.alike import join_alike
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
TEST = "block 0; v0 = LOAD_FAST 'a'; v1 = MATCH_SEQUENCE v0; -> 1 if v1 else 2\n"
PLAIN = TEST.replace("MATCH_SEQUENCE v0", "CALL () v0")


def joined(rest: str, head: str = TEST) -> str:
    graph = read_graph((head + rest).replace("; ", "\n  "), CODE)
    join_alike(graph)
    return " ".join(text(graph).partition("\nblock 0")[2].split() or text(graph).split()).partition(" -> ")[2]


ALIKE = {
    "block 1; v2 = CONST 1; return v2\nblock 2; v3 = CONST 1; return v3\n": "{0} if v1 else {0}",
    "block 1; raise v0\nblock 2; raise v0\n": "{0} if v1 else {0}",
    "block 1; reraise v0\nblock 2; reraise v0\n": "{0} if v1 else {0}",
    "block 1; -> 3\nblock 2; -> 3\nblock 3; v2 = CONST 1; return v2\n": "{0} if v1 else {0}",
    "block 1; v2 = CALL () v0; POP v2; -> 3\nblock 2; v3 = CALL () v0; POP v3; -> 3\nblock 3; return v0\n": (
        "{0} if v1 else {0}"
    ),
    "block 1; -> 3\nblock 2; -> 4\nblock 3; return v0\nblock 4; return v0\n": "{0} if v1 else {0}",
}
APART = {
    "other values": "block 1; return v0\nblock 2; return v1\n",
    "other constants": "block 1; v2 = CONST 1; return v2\nblock 2; v3 = CONST 2; return v3\n",
    "constants of other types": "block 1; v2 = CONST 1; return v2\nblock 2; v3 = CONST True; return v3\n",
    "other operands": "block 1; v2 = CALL () v0; return v2\nblock 2; v3 = CALL () v1; return v3\n",
    "other exits": "block 1; return v0\nblock 2; raise v0\n",
    "another handler": (
        "block 1 [handler 0: block 3]; v2 = CALL (); return v2\nblock 2; v2 = CALL (); return v2\nblock 3; reraise v9\n"
    ),
    "other ways": "block 1; POP v0; -> 3\nblock 2; POP v0; -> 4\nblock 3; return v0\nblock 4; return v1\n",
    "tests": "block 1; -> 3 if v0 else 4\nblock 2; -> 3 if v0 else 4\nblock 3; return v0\nblock 4; return v1\n",
    "other values of a phi": "block 1; -> 3 (v0)\nblock 2; -> 3 (v1)\nblock 3 (v5); return v5\n",
    "other stacks": "block 1 [stack v0]; return v0\nblock 2 [stack v1]; return v0\n",
}


@pytest.mark.parametrize("rest", ALIKE)
def test_one_block_stands_for_all(rest: str) -> None:
    rows = joined(rest)
    first = rows.split()[0]
    assert rows.startswith(ALIKE[rest].format(first)), rows


@pytest.mark.parametrize("what", APART)
def test_what_differs_stays(what: str) -> None:
    assert joined(APART[what]).startswith("1 if v1 else 2 "), joined(APART[what])


def test_code_without_patterns_stays() -> None:
    assert joined(next(iter(ALIKE)), PLAIN).startswith("1 if v1 else 2 ")


def test_what_drops_more_first_goes_on_to_the_rest() -> None:
    rest = "block 1; POP v0; v2 = CONST 1; return v2\nblock 2; v3 = CONST 1; return v3\n"
    rows = joined(rest)
    assert rows.startswith("1 if v1 else 2 block 1 POP v0 -> 2 block 2 v3 = CONST 1 return v3")


def test_blocks_that_take_values_stay() -> None:
    rest = "block 1; -> 3 (v0)\nblock 2; -> 4 (v0)\nblock 3 (v5); return v5\nblock 4 (v6); return v6\n"
    assert joined(rest).startswith("1 if v1 else 2 ")
