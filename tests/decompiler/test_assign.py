"""Stores of one block: which statements they become, and where a value keeps a name of its own."""

from __future__ import annotations

import pytest

from tests.decompiler.folding import statements
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c, x): return g, h, os")
G, H = "v0 = LOAD_GLOBAL 'g'; v1 = CALL () v0; ", "v2 = LOAD_GLOBAL 'h'; v3 = CALL () v2; "
A, B, C, X = (f"v{number} = LOAD_FAST '{name}'; " for number, name in zip((5, 6, 7, 8), "abcx"))
TWO = f"{X}v10 v11 = UNPACK_SEQUENCE 2 v8; "
STORES = {
    "what makes __annotations__": ("SETUP_ANNOTATIONS", "<SetupAnnotations>\n"),
    "an import binds its name": (
        "v0 = CONST 0; v1 = CONST None; v9 = IMPORT_NAME 'os' v0 v1; STORE_FAST 'os' v9",
        "import os\n",
    ),
    "a null unbinds a variable, bound or not": ("STORE_FAST 'a' null", "a = None\ndel a\n"),
    "an in-place operation on what is no variable": (
        "v9 = INPLACE '+=' v30 v31; STORE_FAST 'a' v9",
        "v9 = v30\nv9 += v31\na = v9\n",
    ),
    "an in-place operation that is stored to its variable": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; STORE_FAST 'a' v9",
        "a += b\n",
    ),
    "an in-place operation that is stored to another variable": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; STORE_FAST 'b' v9",
        "v9 = a\nv9 += b\nb = v9\n",
    ),
    "an in-place operation whose result is used again": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; STORE_FAST 'a' v9; return v9",
        "v9 = a\nv9 += b\na = v9\nreturn v9\n",
    ),
    "an in-place operation with a call before its store": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; {G}STORE_FAST 'a' v9; return v1",
        "v9 = a\nv9 += b\nv1 = g()\na = v9\nreturn v1\n",
    ),
    "an attribute in place": (
        f"{X}v9 = LOAD_ATTR 'y' v8; {A}v10 = INPLACE '+=' v9 v5; STORE_ATTR 'y' v10 v8",
        "x.y += a\n",
    ),
    "another attribute of the same object": (
        f"{X}v9 = LOAD_ATTR 'y' v8; {A}v10 = INPLACE '+=' v9 v5; STORE_ATTR 'z' v10 v8",
        "v10 = x.y\nv10 += a\nx.z = v10\n",
    ),
    "an object that is used again": (
        f"{X}v9 = LOAD_ATTR 'y' v8; {A}v10 = INPLACE '+=' v9 v5; STORE_ATTR 'y' v10 v8; return v8",
        "v10 = x.y\nv10 += a\nx.y = v10\nreturn x\n",
    ),
    "a result that is used again": (
        f"{X}v9 = LOAD_ATTR 'y' v8; {A}v10 = INPLACE '+=' v9 v5; STORE_ATTR 'y' v10 v8; return v10",
        "v10 = x.y\nv10 += a\nx.y = v10\nreturn v10\n",
    ),
    "the same attribute of another object": (
        f"{X}{B}v9 = LOAD_ATTR 'y' v6; {A}v10 = INPLACE '+=' v9 v5; STORE_ATTR 'y' v10 v8",
        "v10 = b.y\nv10 += a\nx.y = v10\n",
    ),
    "a variable that becomes an attribute": (
        f"{X}{B}v10 = INPLACE '+=' v6 v8; STORE_ATTR 'y' v10 v8",
        "v10 = b\nv10 += x\nx.y = v10\n",
    ),
    "an item in place": (
        f"{X}{B}v9 = LOAD_SUBSCR v8 v6; {A}v10 = INPLACE '+=' v9 v5; STORE_SUBSCR v10 v8 v6",
        "x[b] += a\n",
    ),
    "another item of the same container": (
        f"{X}{B}{C}v9 = LOAD_SUBSCR v8 v7; {A}v10 = INPLACE '+=' v9 v5; STORE_SUBSCR v10 v8 v6",
        "v10 = x[c]\nv10 += a\nx[b] = v10\n",
    ),
    "an attribute that becomes an item": (
        f"{X}{B}v9 = LOAD_ATTR 'y' v8; {A}v10 = INPLACE '+=' v9 v5; STORE_SUBSCR v10 v8 v6",
        "v10 = x.y\nv10 += a\nx[b] = v10\n",
    ),
    "the same item twice, of another container": (
        f"{G}{H}v9 = LOAD_SUBSCR v3 v3; {A}v10 = INPLACE '+=' v9 v5; STORE_SUBSCR v10 v1 v3",
        "v1 = g()\nv3 = h()\nv10 = v3[v3]\nv10 += a\nv1[v3] = v10\n",
    ),
    "a value that is stored and dropped": (f"{G}STORE_FAST 'a' v1; POP v1", "(a := g())\n"),
}
UNPACKED = {
    "what is no value of this block": (
        "v10 v11 = UNPACK_SEQUENCE 2 v30; STORE_FAST 'a' v10; STORE_FAST 'b' v11",
        "a, b = v30\n",
    ),
    "the result of an in-place operation": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; v10 v11 = UNPACK_SEQUENCE 2 v9; STORE_FAST 'a' v10; STORE_FAST 'b' v11",
        "v9 = a\nv9 += b\na, b = v9\n",
    ),
    "a star over a tuple": (
        f"{X}v10 v11 = UNPACK_EX (1, 0) v8; STORE_FAST 'a' v10; v13 v14 = UNPACK_SEQUENCE 2 v11; "
        "STORE_FAST 'b' v13; STORE_FAST 'c' v14",
        "a, *(b, c) = x\n",
    ),
    "no target at all": (f"{X}UNPACK_SEQUENCE 0 v8", "() = x\n"),
    "a target that nothing stores": (f"{TWO}POP v10; STORE_GLOBAL 'a' v11", "v10, a = x\n"),
    "others see a global that is stored behind a call": (
        f"{TWO}{G}STORE_GLOBAL 'a' v10; STORE_ATTR 'y' v11 v1",
        "v10, v11 = x\nv1 = g()\na = v10\nv1.y = v11\n",
    ),
    "nobody sees that a call comes behind a local store": (
        f"{TWO}STORE_GLOBAL 'a' v10; {G}STORE_ATTR 'y' v11 v1",
        "a, g().y = x\n",
    ),
    "a part of a target that has a name": (
        f"{TWO}{G}STORE_FAST 'a' v1; STORE_ATTR 'y' v10 v1; STORE_FAST 'b' v11",
        "(a := g()).y, b = x\n",
    ),
    "a part of a target that is an attribute too": (
        f"{TWO}{G}STORE_FAST 'a' v1; {C}STORE_ATTR 'z' v1 v7; STORE_ATTR 'y' v10 v1; STORE_FAST 'b' v11",
        "v10, v11 = x\na = c.z = v1 = g()\nv1.y = v10\nb = v11\n",
    ),
    "a part of a target with the name of another target": (
        f"{TWO}{G}STORE_FAST 'a' v1; STORE_FAST 'a' v10; STORE_ATTR 'y' v11 v1",
        "v10, v11 = x\na = v1 = g()\na = v10\nv1.y = v11\n",
    ),
    "a part of a target is what is unpacked": (
        f"{G}v10 v11 = UNPACK_SEQUENCE 2 v1; STORE_ATTR 'y' v10 v1; STORE_FAST 'b' v11",
        "v10, v11 = v1 = g()\nv1.y = v10\nb = v11\n",
    ),
    "a part of a target that is computed before": (
        f"{TWO}{A}{G}STORE_SUBSCR v10 v1 v5; STORE_FAST 'b' v11",
        "v10, v11 = x\ng()[a] = v10\nb = v11\n",
    ),
    "two values behind an unpacking": (
        f"{TWO}{G}{H}STORE_FAST 'a' v1; STORE_FAST 'b' v3; STORE_FAST 'c' v10; STORE_FAST 'c' v11",
        "v10, v11 = x\na, b = g(), h()\nc = v10\nc = v11\n",
    ),
    "an unpacking behind another one": (
        f"{TWO}{G}{H}v13 v14 = UNPACK_SEQUENCE 2 v1; STORE_FAST 'a' v13; STORE_FAST 'b' v14; STORE_FAST 'c' v3; "
        "STORE_FAST 'c' v10; STORE_FAST 'c' v11",
        "v10, v11 = x\nv1 = g()\nv3 = h()\na, b = v1\nc = v3\nc = v10\nc = v11\n",
    ),
    "a tuple of one": (f"{X}v10 = UNPACK_SEQUENCE 1 v8; v11 = BUILD_TUPLE v10; return v11", "v10, = x\nreturn v10,\n"),
    "one target": (f"{X}v10 = UNPACK_SEQUENCE 1 v8; STORE_FAST 'b' v10", "b, = x\n"),
}
PARALLEL = {
    "a tuple and a name": (
        f"{G}{H}v10 v11 = UNPACK_SEQUENCE 2 v1; STORE_FAST 'a' v10; STORE_FAST 'b' v11; STORE_FAST 'c' v3",
        "(a, b), c = g(), h()\n",
    ),
    "the same name twice": (f"{A}{B}STORE_FAST 'c' v6; STORE_FAST 'c' v5", "c = b\nc = a\n"),
    "a global first": (f"{A}{B}STORE_GLOBAL 'g' v6; STORE_FAST 'c' v5", "g = b\nc = a\n"),
    "a global last": (f"{A}{B}STORE_FAST 'c' v6; STORE_GLOBAL 'g' v5", "c = b\ng = a\n"),
    "two of three values": (
        f"{A}{B}{C}STORE_FAST 'a' v7; STORE_FAST 'b' v6; return v5",
        "v5 = a\nb, a = b, c\nreturn v5\n",
    ),
    "an attribute before the names": (
        f"{G}{H}{X}STORE_ATTR 'y' v3 v8; STORE_FAST 'a' v3; STORE_FAST 'b' v1",
        "v1 = g()\nx.y = a = h()\nb = v1\n",
    ),
    "a first value that has a name": (
        f"{G}STORE_FAST 'x' v1; {H}STORE_FAST 'a' v3; STORE_FAST 'b' v1",
        "x = v1 = g()\na = h()\nb = v1\n",
    ),
    "a first value that is used again": (
        f"{G}v9 = BUILD_TUPLE v1; {H}STORE_FAST 'a' v3; STORE_FAST 'b' v1; return v9",
        "v1 = g()\na = h()\nb = v1\nreturn v1,\n",
    ),
    "a value that is returned too": (
        f"{G}{H}STORE_FAST 'a' v3; STORE_FAST 'b' v1; return v1",
        "v1 = g()\na = h()\nb = v1\nreturn v1\n",
    ),
    "the result of an in-place operation first": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; {H}STORE_FAST 'a' v3; STORE_FAST 'b' v9",
        "v9 = a\nv9 += b\na = h()\nb = v9\n",
    ),
    "the result of an in-place operation last": (
        f"{G}{A}{B}v9 = INPLACE '+=' v5 v6; STORE_FAST 'a' v1; STORE_FAST 'b' v9",
        "v1 = g()\nv9 = a\nv9 += b\na = v1\nb = v9\n",
    ),
    "a name between the values": (
        f"{G}{H}STORE_FAST 'x' v3; STORE_FAST 'a' v1; STORE_FAST 'b' v3",
        "v1 = g()\nx = v3 = h()\na = v1\nb = v3\n",
    ),
    "a value that becomes an index": (
        f"{G}{H}STORE_FAST 'a' v1; STORE_SUBSCR v8 v30 v3",
        "v1 = g()\nv3 = h()\na = v1\nv30[v3] = v8\n",
    ),
    "three values in another order": (
        f"{G}{H}v9 = BUILD_TUPLE v3; STORE_FAST 'a' v9; STORE_FAST 'b' v3; STORE_FAST 'c' v1",
        "v1 = g()\nv3 = h()\na = v3,\nb = v3\nc = v1\n",
    ),
    "two attributes": (
        f"{G}{H}{X}STORE_ATTR 'y' v1 v8; {X.replace('v8', 'v9')}STORE_ATTR 'z' v3 v9",
        "x.y, x.z = g(), h()\n",
    ),
    "a value with a name of its own": (
        f"{G}{H}STORE_FAST 'x' v3; STORE_FAST 'a' v3; STORE_FAST 'b' v1",
        "b, a = g(), (x := h())\n",
    ),
}


@pytest.mark.parametrize("what", [*STORES, *UNPACKED, *PARALLEL])
def test_statements_of_stores(what: str) -> None:
    rows, text = {**STORES, **UNPACKED, **PARALLEL}[what]
    assert statements(rows, CODE) == text


STAR = f"{X}v10 = UNPACK_SEQUENCE 1 v8; "
EVALUATOR = code_of("def f(format): return x")
PLAIN = code_of("def f(): return x")
ANNOTATE = code_of("def __annotate__(a): return x")
EVALUATED = {
    "a default of type parameters": (f"{STAR}return v10", EVALUATOR, "return *x\n"),
    "annotations": (f"{STAR}v11 = CONST 'x'; v12 = BUILD_TUPLE v11 v10; return v12", ANNOTATE, "return ('x', *x)\n"),
    "a tuple that is evaluated later": (f"{STAR}v12 = BUILD_TUPLE v10; return v12", EVALUATOR, "return (*x,)\n"),
    "a tuple of a function": (f"{STAR}v12 = BUILD_TUPLE v10; return v12", CODE, "v10, = x\nreturn v10,\n"),
    "a function that stores something": (
        f"{STAR}STORE_FAST 'x' v8; return v10",
        EVALUATOR,
        "v10, = v8 = x\nx = v8\nreturn v10\n",
    ),
    "a value that nothing uses": (STAR.removesuffix("; "), PLAIN, "v10, = x\n"),
    "a list": (f"{STAR}v12 = BUILD_LIST v10; return v12", EVALUATOR, "v10, = x\nreturn [v10]\n"),
}
"""The value of `*Ts` in what is evaluated when it is asked for, and unpackings of one value that are none."""


@pytest.mark.parametrize("what", EVALUATED)
def test_an_operand_with_a_star(what: str) -> None:
    rows, code, text = EVALUATED[what]
    assert statements(rows, code) == text
