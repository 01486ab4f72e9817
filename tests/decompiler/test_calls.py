"""Calls, functions, generators and values that are dropped: the operations of a block and their statements."""

from __future__ import annotations

import pytest

from depyf.errors import DecompilationError
from tests.decompiler.folding import statements
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c, x): return g, h, os")
A, B, C, X = (f"v{number} = LOAD_FAST '{name}'; " for number, name in zip((5, 6, 7, 8), "abcx"))
F = "v1 = LOAD_GLOBAL 'g'; "
GIVEN = {
    "a keyword argument": (f"{F}{A}{B}v9 = CALL ('k',) v1 v5 v6; return v9", "return g(a, k=b)\n"),
    "a tuple that is unpacked": (
        f"{F}{A}{B}v3 = BUILD_TUPLE v5 v6; v9 = CALL_EX False v1 v3; return v9",
        "return g(*(a, b))\n",
    ),
    "arguments with a mapping": (
        f"{F}{A}{B}v3 = BUILD_TUPLE v5 v6; {C}v9 = CALL_EX True v1 v3 v7; return v9",
        "return g(a, b, **c)\n",
    ),
    "arguments of which one is unpacked": (
        f"{F}{A}v3 = BUILD_LIST v5; {B}LIST_EXTEND v3 v6; v4 = LIST_TO_TUPLE v3; v9 = CALL_EX False v1 v4; return v9",
        "return g(a, *b)\n",
    ),
    "a tuple that is put together": (
        f"{F}{A}v3 = BUILD_TUPLE_UNPACK v5 v6; {C}v9 = CALL_EX True v1 v3 v7; return v9",
        "return g(*(*a, *v6), **c)\n",
    ),
    "constants that are unpacked": (
        f"{F}v3 = CONST (1, 2); v9 = CALL_EX False v1 v3; return v9",
        "return g(*(1, 2))\n",
    ),
    "no argument": (f"{F}v3 = CONST (); v9 = CALL_EX False v1 v3; return v9", "return g()\n"),
    "keyword arguments with a mapping": (
        f"{F}v3 = CONST (); v4 = CONST 'k'; {C}v6 = BUILD_MAP v4 v7; {X}DICT_MERGE v6 v8; "
        "v9 = CALL_EX True v1 v3 v6; return v9",
        "return g(k=c, **x)\n",
    ),
    "a key that is no name": (
        f"{F}v3 = CONST (); v4 = CONST 'no name'; {C}v6 = BUILD_MAP v4 v7; v9 = CALL_EX True v1 v3 v6; return v9",
        "return g(**{'no name': c})\n",
    ),
    "a mapping that is put together": (
        f"{F}v3 = CONST (); v4 = CONST 'k'; {C}v6 = BUILD_MAP v4 v7; {X}v11 = BUILD_MAP_UNPACK v6 v8; "
        "v9 = CALL_EX True v1 v3 v11; return v9",
        "return g(**{'k': c, **x})\n",
    ),
    "constants for a class": (
        "v1 = LOAD_BUILD_CLASS; v3 = CONST (1, 2); v9 = CALL_EX False v1 v3; return v9",
        "return <BuildClass>(1, 2)\n",
    ),
    "an iterator": (f"{A}v2 = GET_ITER v5; return v2", "return <GetIter value=a>\n"),
    "an asynchronous iterator": (f"{A}v2 = GET_AITER v5; return v2", "return <AsyncIter value=a>\n"),
    "the next value of an asynchronous iterator": (
        f"{A}v2 = GET_ANEXT v5; v3 = YIELD_FROM v2; return v3",
        "return await <AsyncNext value=a>\n",
    ),
    "an awaitable": (f"{A}v2 = GET_AWAITABLE v5; return v2", "return <GetAwaitable value=a where=0>\n"),
    "an await": (f"{A}v2 = GET_AWAITABLE v5; v3 = YIELD_FROM v2; return v3", "return await a\n"),
    "an await of an async with": (
        f"{A}v2 = GET_AWAITABLE 1 v5; v3 = YIELD_FROM v2; return v3",
        "return await <GetAwaitable value=a where=1>\n",
    ),
    "a yield from": (f"{A}v2 = GET_YIELD_FROM_ITER v5; v3 = YIELD_FROM v2; return v3", "return (yield from a)\n"),
    "a yield from without its first half": (f"{A}v3 = YIELD_FROM v5; return v3", "return (yield from a)\n"),
    "what an asynchronous generator yields": (
        f"{A}v2 = INTRINSIC 'async_gen_wrap' v5; v3 = YIELD v2; return v3",
        "return (yield a)\n",
    ),
    "another wrapped value": (
        f"{A}v2 = INTRINSIC 'other' v5; v3 = YIELD v2; return v3",
        "return (yield <Intrinsic name='other' a>)\n",
    ),
    "a yield": (f"{A}v3 = YIELD v5; return v3", "return (yield a)\n"),
    "a match of an exception": (
        f"{A}{B}v2 = CHECK_EXC_MATCH v5 v6; return v2",
        "return <ExcMatch exc=a type=b star=False>\n",
    ),
    "the exit of a with": (f"{A}{B}v2 = WITH_EXCEPT_START v5 v6; return v2", "return <WithExcept exit=a>\n"),
    "an in-place operation that is dropped": (f"{A}{B}v9 = INPLACE '+=' v5 v6; POP v9", "v9 = a\nv9 += b\n"),
    "a value that is dropped behind another one": (
        f"{F}v2 = CALL () v1; v3 = CALL () v2; v4 = LOAD_GLOBAL 'h'; POP v3; return v4",
        "g()()\nreturn h\n",
    ),
    "an in-place operation that is dropped behind a value": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; v4 = LOAD_GLOBAL 'h'; POP v9; return v4",
        "v9 = a\nv9 += b\nreturn h\n",
    ),
    "a value that is dropped and used": (f"{F}v2 = CALL () v1; POP v2; return v2", "return g()\n"),
    "an import of two names": (
        "v0 = CONST 0; v1 = CONST ('k', 'l'); v9 = IMPORT_NAME 'os' v0 v1; v2 = IMPORT_FROM 'k' v9; "
        "STORE_FAST 'a' v2; v3 = IMPORT_FROM 'l' v9; STORE_FAST 'b' v3; POP v9",
        "from os import k as a, l as b\n",
    ),
    "a variable that is dropped in an unpacking": (
        f"{X}v10 v11 = UNPACK_SEQUENCE 2 v8; {A}POP v5; STORE_FAST 'a' v10; STORE_FAST 'b' v11",
        "v10, v11 = x\na\na = v10\nb = v11\n",
    ),
    "the last target of an unpacking first": (
        f"{X}v10 v11 = UNPACK_SEQUENCE 2 v8; POP v11; STORE_FAST 'b' v10",
        "b, v11 = x\n",
    ),
    "the first of two stores to a variable": (
        f"{X}v10 v11 = UNPACK_SEQUENCE 2 v8; POP v10; STORE_FAST 'b' v11",
        "b, b = x\n",
    ),
    "a target of an unpacking that is used": (
        f"{X}v10 v11 = UNPACK_SEQUENCE 2 v8; POP v10; STORE_FAST 'b' v11; return v10",
        "v10, v11 = x\nb = v11\nreturn v10\n",
    ),
}


@pytest.mark.parametrize("what", GIVEN)
def test_statements_of_calls(what: str) -> None:
    rows, text = GIVEN[what]
    assert statements(rows, CODE) == text


REFUSED = {
    "a function of what is no constant": f"{A}v1 = MAKE_FUNCTION 0 v5; return v1",
    "a function of a constant that is no code": "v0 = CONST {1}; v1 = MAKE_FUNCTION 0 v0; return v1",
    "defaults of what is no function": f"{A}{B}v2 = SET_FUNCTION_ATTRIBUTE 1 v5 v6; return v2",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_function_is_refused(what: str) -> None:
    with pytest.raises(DecompilationError):
        statements(REFUSED[what], CODE)
