"""Operations that a block has after expressions of several blocks were joined."""

from __future__ import annotations

import pytest

from tests.decompiler.folding import folded
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b): pass")
GIVEN = {
    "v0 = LOAD_FAST 'a'; v1 = MOVE v0; return v1": "return a\n",
    "v0 = LOAD_FAST 'a'; v1 v2 = ENTER_WITH v0; return v2": "enter a -> exit v1, value v2\nreturn v2\n",
    "v0 = LOAD_FAST 'a'; v1 v2 = ENTER_ASYNC_WITH v0; return v2": "enter async a -> exit v1, value v2\nreturn v2\n",
    "v0 = LOAD_FAST 'a'; v1 = LOAD_FAST 'b'; v2 v3 = SPLIT v0 v1; return v3": "v2, v3 = <Object>(a, b)\nreturn v3\n",
    "v0 = LOAD_FAST 'a'; v1 = LOAD_FAST 'b'; v2 = GATHER v0 v1; return v2": "return <Object>(a, b)\n",
}


@pytest.mark.parametrize("rows", GIVEN)
def test_what_becomes_of_operations(rows: str) -> None:
    assert folded(f"block 0; {rows}", CODE) == GIVEN[rows]
