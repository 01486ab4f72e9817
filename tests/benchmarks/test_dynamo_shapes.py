"""The shapes of Dynamo's code are seen where they are, and not where they are not."""

from __future__ import annotations

import types

import pytest

from benchmarks.dynamo_shapes import SHAPES, Seen

PLAIN = "def f(x): return x"
WITH = {
    "items of a container are set": "def f(x): x[0] = 1",
    "a global is set": "def f(x):\n global g\n g = x",
    "an attribute is set": "def f(x): x.a = 1",
    "values wait over a branch": "def f(x): return g(x, (x if x else 1) if h else 2)",
    "a slice of a list": "def f(x): return g[x:x:x]",
    "a call takes its arguments from a list": "def f(x): return g(*x)",
    "variables are unbound after their use": "def f(x):\n del x",
    "names of graphs": "def f(x): return __compiled_fn_1(x)",
    "the results of a graph are unpacked": "def f(x):\n a, b = g(x)\n return a",
}


def seen(text: str) -> Seen:
    (code,) = (const for const in compile(text, "f", "exec").co_consts if isinstance(const, types.CodeType))
    return Seen(code, "a test", is_source=False)


@pytest.mark.parametrize("name", SHAPES)
def test_plain_code_has_no_shape(name: str) -> None:
    assert not SHAPES[name](seen(PLAIN))


@pytest.mark.parametrize("name", WITH)
def test_a_shape_is_seen(name: str) -> None:
    assert SHAPES[name](seen(WITH[name]))
