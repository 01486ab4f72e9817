"""Which values are loaded where they are used."""

from __future__ import annotations

import pytest

from depyf.decompiler.lift.simplify.reload import reload_where_used
from depyf.decompiler.show.graph import text
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g, h")
MOVED = {
    "a parameter": "LOAD_FAST 'a'",
    "a constant": "CONST 1",
    "a global that nobody binds anew": "LOAD_GLOBAL 'g'",
}
STAY = {
    "another global": "LOAD_GLOBAL 'h'",
    "another variable": "LOAD_FAST 'b'",
    "an attribute with the name of such a global": "LOAD_ATTR 'g' v9",
    "a call": "CALL () v9",
}


def loads(row: str, behind: str = "") -> list[str]:
    """Return the operations before a call that takes what a row makes."""
    graph = graph_of(f"block 0; v0 = {row}; v1 = CALL () v8; v2 = CALL () v1 v0; {behind}return v2", CODE)
    reload_where_used(graph, frozenset({"g"}))
    return [line.split(" = ")[1].split()[0] for line in text(graph).splitlines() if " = " in line]


@pytest.mark.parametrize("what", MOVED)
def test_what_stays_the_same_is_loaded_where_it_is_used(what: str) -> None:
    operation = MOVED[what].split()[0].replace("LOAD_GLOBAL", "LOAD_GLOBAL_UNCHANGING")
    assert loads(MOVED[what]) == ["CALL", operation, "CALL"]


@pytest.mark.parametrize("what", STAY)
def test_what_may_change_is_loaded_where_it_stands(what: str) -> None:
    assert loads(STAY[what]) == [STAY[what].split()[0], "CALL", "CALL"]


@pytest.mark.parametrize(
    ("row", "behind"),
    [("LOAD_FAST 'a'", "STORE_FAST 'a' v1; "), ("LOAD_GLOBAL 'g'", "DELETE_GLOBAL 'g'; ")],
    ids=["a parameter", "a global"],
)
def test_what_the_code_itself_changes_is_loaded_where_it_stands(row: str, behind: str) -> None:
    assert loads(row, behind) == [row.split()[0], "CALL", "CALL"]
