"""Variables that only a text has lie on the stack where code may look at its frame."""

from __future__ import annotations

import sys
import types
import weakref

import pytest

from depyf.bytecode.reader import read
from depyf.verify.candidate.recompile import recompile
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.verify.assemble import code_of

needs_copy = pytest.mark.skipif(sys.version_info < (3, 11), reason="no instruction copies from below on the stack")

ORIGINAL = "def f(x): return [x + 1, sys._getframe().f_locals.copy(), x * 2]"


def again(original: types.CodeType, text: str) -> types.CodeType:
    return recompile(text, original, filename="file.py", placeholders={})


def level(original: types.CodeType, text: str) -> Level:
    return verify(read(original), read(again(original, text))).level


@needs_copy
@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n y = x + 1\n return [y, sys._getframe().f_locals.copy(), x * 2]",
        "def f(x):\n 'doc'\n y = x + 1\n z = sys._getframe().f_locals.copy()\n return [y, z, x * 2]",
        "def f(x):\n y = x + 1\n get = sys._getframe\n z = get().f_locals.copy()\n return [y, z, x * 2]",
        "def f(x):\n f_locals = x + 1\n return [f_locals, sys._getframe().f_locals.copy(), x * 2]",
        "def f(x):\n y = x + 1\n z = sys._getframe().f_locals.copy()\n w = x * 2\n return [y, z, w]",
    ],
)
def test_what_only_the_text_names_is_no_variable_of_the_frame(text: str) -> None:
    original = code_of(ORIGINAL)
    assert level(original, text) is not Level.UNPROVEN
    function = types.FunctionType(again(original, text), {"sys": sys})
    assert function(3) == [4, {"x": 3}, 6]


@needs_copy
def test_a_value_is_let_go_where_the_text_deletes_it() -> None:
    original = code_of("def f(x): return [g(x), locals()]\n")
    text = "def f(x):\n y = g(x)\n z = [y, locals()]\n return z"
    assert level(original, text) is not Level.UNPROVEN
    recompiled = again(original, "def f(x):\n y = g(x)\n del y\n return locals()")
    assert types.FunctionType(recompiled, {"g": str})(3) == {"x": 3}


@needs_copy
def test_branches_may_store_the_same_variable() -> None:
    original = code_of("def f(x): return (h(x), locals(), 1 if x else 2)\n")
    text = "def f(x):\n y = h(x)\n z = locals()\n if x: w = 1\n else: w = 2\n return y, z, w"
    assert level(original, text) is not Level.UNPROVEN
    function = types.FunctionType(again(original, text), {"h": str})
    assert (function(3), function(0)) == (("3", {"x": 3}, 1), ("0", {"x": 0}, 2))


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n if x: y = 1\n return locals()",
        "def f(x):\n y = 1\n y = 2\n return y, locals()",
        "def f(x):\n for y in x: pass\n return locals()",
        "def f(x):\n y, z = x\n return y, z, locals()",
        "def f(x):\n try: y = x()\n except E: return locals()\n return y, locals()",
    ],
)
def test_what_cannot_lie_on_the_stack_stays_a_variable(text: str) -> None:
    recompiled = again(code_of("def f(x): return locals()"), text)
    assert "y" in recompiled.co_varnames


def test_code_that_looks_at_no_frame_keeps_its_variables() -> None:
    recompiled = again(code_of("def f(x): return g(h(x))"), "def f(x):\n y = h(x)\n return g(y)")
    assert "y" in recompiled.co_varnames


@needs_copy
def test_a_variable_that_the_original_binds_stays_one() -> None:
    original = code_of("def f(x):\n y = g(x)\n return y, locals()")
    recompiled = again(original, "def f(x):\n y = g(x)\n return y, locals()")
    assert verify(read(original), read(recompiled)).level is Level.EXACT
    assert types.FunctionType(recompiled, {"g": str})(3) == ("3", {"x": 3, "y": "3"})


@needs_copy
def test_the_last_read_takes_the_value_from_where_it_lies() -> None:
    class Value:
        pass

    held: list[weakref.ref[Value]] = []

    def made() -> Value:
        value = Value()
        held.append(weakref.ref(value))
        return value

    original = code_of("def f(g, h): return [g(), g(), h(g()), locals()]")
    text = "def f(g, h):\n y = g()\n z = g()\n w = h(g())\n v = locals()\n return [y, z, w, v]"
    code = recompile(text, original, filename="file.py", placeholders={}, lets_go=True)
    assert verify(read(original), read(code)).level is not Level.UNPROVEN
    text = "def f(g, h):\n y = g()\n z = g()\n w = h(y)\n v = h(z)\n return w, v, locals()"
    function = types.FunctionType(recompile(text, original, filename="f.py", placeholders={}, lets_go=True), {})
    _, alive, _ = function(made, lambda value: [reference() is not None for reference in held])
    assert alive == [False, True], "the first value went with the first call of `h`"
