"""A graph as the states of loops that dispatch."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.structure.dispatch.flat import dispatch_scopes
from depyf.decompiler.structure.unstructured import Unstructured
from tests.decompiler.folding import graph_of
from tests.decompiler.parsed import shown
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")


def nested(depth: int) -> str:
    """Return blocks, each of which is protected by the next one."""
    rows = [
        f"block {number}  [handler {number}: block {number + 1}]; v{number} = LOAD_GLOBAL 'g'; return v{number}"
        for number in range(depth)
    ]
    return "\n".join([*rows, f"block {depth}; v{depth} = LOAD_GLOBAL 'g'; return v{depth}"])


def finish(stmts: list[ast.stmt]) -> list[ast.stmt]:
    return stmts


def test_the_deepest_nesting() -> None:
    text = shown(dispatch_scopes(graph_of(nested(38), CODE), finish))
    assert text.count("try:") == 38


def test_a_nesting_that_is_too_deep() -> None:
    with pytest.raises(Unstructured, match="levels"):
        dispatch_scopes(graph_of(nested(41), CODE), finish)


TESTED = """block 0  [handler 0: block 2]; v0 = LOAD_GLOBAL 'g'; v1 = CALL () v0; return v1
block 2; v3 = PUSH_EXC_INFO v2; -> 3
block 3; v4 = LOAD_GLOBAL 'E'; v5 = CHECK_EXC_MATCH v2 v4; -> 4 if v5 else 5
block 4; v6 = LOAD_GLOBAL 'F'; -> 6 if v6 else 5
block 5; reraise v2
block 6; POP_EXCEPT v3; v7 = CONST None; return v7"""


def test_a_test_for_an_exception_stays_apart() -> None:
    text = shown(dispatch_scopes(graph_of(TESTED, CODE), finish))
    assert "except E:" in text
    assert "if F:" in text
