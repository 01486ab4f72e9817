"""The unbinding of the name of a clause."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.regions.names import strip_unbindings
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
UNBIND = "v5 = CONST None; STORE_FAST 'e' v5; DELETE_FAST 'e'; "
CLAUSE = (
    "block 0  [handler 0: block 1]; v1 = CALL (); return v1\n"
    "block 1; v2 = PUSH_EXC_INFO v9; STORE_FAST 'e' v9; {}v7 = CONST 1; return v7"
)


def stripped(rows: str, clause: str = CLAUSE) -> list[str]:
    graph = graph_of(clause.format(rows), CODE)
    graph.handlers[0].exc = 9
    strip_unbindings(graph, [0])
    return rows_of(graph)


@pytest.mark.parametrize("rows", ["POP_EXCEPT v2; " + UNBIND, UNBIND + "POP_EXCEPT v2; "])
def test_the_unbinding_goes(rows: str) -> None:
    found = stripped(rows)
    assert "DELETE_FAST 'e'" not in found and "STORE_FAST 'e' v5" not in found
    assert "STORE_FAST 'e' v9" in found and "POP_EXCEPT v2" in found


@pytest.mark.parametrize(
    "rows",
    [
        "POP_EXCEPT v2; " + UNBIND.replace("DELETE_FAST 'e'", "DELETE_FAST 'f'"),
        "POP_EXCEPT v2; " + UNBIND.replace("DELETE_FAST", "DELETE_NAME"),
        "POP_EXCEPT v2; " + UNBIND.replace("DELETE_FAST 'e'", "LOAD_FAST 'e'"),
        "POP_EXCEPT v2; " + UNBIND.replace("'e'", "'f'"),
        "POP_EXCEPT v2; v8 = LOAD_FAST 'a'; POP v8; " + UNBIND,
        "POP_EXCEPT v3; " + UNBIND,
        UNBIND,
        UNBIND + "v8 = LOAD_FAST 'a'; POP v8; POP_EXCEPT v2; ",
        "POP_EXCEPT v2; v5 = CONST None; v6 = LOAD_FAST 'e'; DELETE_FAST 'e'; ",
        "POP_EXCEPT v2; v5 = LOAD_FAST 'e'; v6 = LOAD_FAST 'e'; ",
    ],
)
def test_other_operations_stay(rows: str) -> None:
    graph = graph_of(CLAUSE.format(rows), CODE)
    assert stripped(rows) == rows_of(graph)


def test_a_name_that_stores_two_values_is_that_of_the_clause() -> None:
    rows = "POP_EXCEPT v2; " + UNBIND
    other = CLAUSE.replace("STORE_FAST 'e' v9", "STORE_SUBSCR v9 v9 v9")
    assert "DELETE_FAST 'e'" in stripped(rows, other)
    other = CLAUSE.replace("STORE_FAST 'e' v9", "STORE_ATTR 'e' v9 v9")
    assert "DELETE_FAST 'e'" in stripped(rows, other)


def test_an_attribute_is_no_name() -> None:
    other = CLAUSE.replace("STORE_FAST 'e' v9", "STORE_ATTR 'e' v9 v8")
    rows = "POP_EXCEPT v2; v5 = CONST None; STORE_ATTR 'e' v5 v8; DELETE_ATTR 'e' v8; "
    assert "DELETE_ATTR 'e' v8" in stripped(rows, other)


def test_an_exit_of_a_with_is_a_block_of_its_own() -> None:
    clause = CLAUSE.replace("{}v7", UNBIND + "-> 2\nblock 2; POP_EXCEPT v2; v7")
    found = stripped("", clause)
    assert "DELETE_FAST 'e'" not in found
    mixed = clause.replace("v1 = CALL (); return v1", "v1 = CALL (); -> 2")
    assert "DELETE_FAST 'e'" in stripped("", mixed)


def test_a_handler_that_does_not_begin_as_one() -> None:
    clause = CLAUSE.replace("v2 = PUSH_EXC_INFO v9", "v2 = CALL () v9")
    assert "DELETE_FAST 'e'" in stripped("POP_EXCEPT v2; " + UNBIND, clause)
