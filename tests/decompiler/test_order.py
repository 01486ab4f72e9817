"""Which values are written in place of their use, and which are assigned to temporaries so that the order is kept."""

from __future__ import annotations

import pytest

from tests.decompiler.folding import folded
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c): return g, h")
G, H = "v0 = LOAD_GLOBAL 'g'; v1 = CALL () v0; ", "v2 = LOAD_GLOBAL 'h'; v3 = CALL () v2; "
A, B = "v5 = LOAD_FAST 'a'; ", "v6 = LOAD_FAST 'b'; "
GIVEN = {
    "calls in the order in which they are used": (f"{G}{H}v9 = BINARY '+' v1 v3; return v9", "return g() + h()\n"),
    "calls the other way round": (f"{G}{H}v9 = BINARY '+' v3 v1; return v9", "v1 = g()\nreturn h() + v1\n"),
    "a local variable moves past a call": (f"{A}{H}v9 = BINARY '+' v3 v5; return v9", "return h() + a\n"),
    "a call moves past a local variable": (f"{H}{A}v9 = BINARY '+' v5 v3; return v9", "return a + h()\n"),
    "a variable does not move past what sets it": (
        f"{A}{H}STORE_FAST 'a' v3; v9 = BINARY '+' v3 v5; return v9",
        "v5 = a\nreturn (a := h()) + v5\n",
    ),
    "a variable moves past what sets another": (
        f"{A}{H}STORE_FAST 'b' v3; v9 = BINARY '+' v3 v5; return v9",
        "return (b := h()) + a\n",
    ),
    "what sets a variable does not move past where it is read": (
        f"{H}STORE_FAST 'a' v3; {A}v9 = BINARY '+' v5 v3; return v9",
        "v3 = (a := h())\nreturn a + v3\n",
    ),
    "two variables that are set behind": (
        f"{A}{B}v8 = CONST 1; STORE_FAST 'b' v8; {H}STORE_FAST 'a' v3; v9 = BUILD_TUPLE v8 v3 v5 v6; return v9",
        "v6 = b\nv5 = a\nreturn (b := 1), (a := h()), v5, v6\n",
    ),
    "a variable that is set by what is assigned to a temporary": (
        f"{A}{B}{H}STORE_FAST 'a' v3; v8 = CONST 1; STORE_FAST 'b' v8; v9 = BUILD_TUPLE v8 v3 v6 v5; return v9",
        "v5 = a\nv3 = (a := h())\nv6 = b\nreturn (b := 1), v3, v6, v5\n",
    ),
    "a call before another one that is used twice": (
        f"{G}{H}v9 = BUILD_TUPLE v1 v3 v3; return v9",
        "v1 = g()\nv3 = h()\nreturn v1, v3, v3\n",
    ),
    "a local variable that is used twice": (
        f"{G}{A}{H}v9 = BUILD_TUPLE v1 v5 v3; v10 = BUILD_TUPLE v5 v9; return v10",
        "return a, (g(), a, h())\n",
    ),
    "a global variable that is used twice": (
        f"{G}v2 = LOAD_GLOBAL 'h'; v4 = BUILD_TUPLE v2; v5 = BINARY '+' v4 v1; v6 = BINARY '-' v5 v2; return v6",
        "v1 = g()\nv2 = h\nreturn (v2,) + v1 - v2\n",
    ),
    "a tuple that is used twice": (
        f"{A}v8 = BUILD_TUPLE v5; v4 = LOAD_FAST 'c'; {H}v9 = BUILD_TUPLE v3 v8 v8 v4; return v9",
        "v8 = a,\nreturn h(), v8, v8, c\n",
    ),
}


@pytest.mark.parametrize("what", GIVEN)
def test_the_order_of_evaluation_is_kept(what: str) -> None:
    rows, text = GIVEN[what]
    assert folded(f"block 0; {rows}", CODE) == text
