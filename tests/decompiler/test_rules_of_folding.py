"""Operations that are statements of their own, and those that are nothing."""

from __future__ import annotations

import pytest

from tests.decompiler.folding import folded
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b): pass")
GIVEN = {
    "v0 = LOAD_FAST 'a'; KEEP 7 v0; return": "v7 = a\nreturn\n",
    "v0 = LOAD_FAST 'a'; UNGUARDED; return v0": "return a\n",
    "v0 = LOAD_FAST 'a'; POP_EXCEPT v9; return v0": "return a\n",
}


@pytest.mark.parametrize("rows", GIVEN)
def test_what_becomes_of_operations(rows: str) -> None:
    assert folded(f"block 0; {rows}", CODE) == GIVEN[rows]
