"""Text becomes a code object that is legal in the place of the original."""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable

import pytest

from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.candidate.layout import lay_out
from depyf.verify.candidate.recompile import recompile
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.verify.assemble import code_of


def make() -> Callable[..., object]:
    """Return a closure with three free variables."""
    a, b, c = 1, 2, 3

    def inner(x: int, *rest: int, q: int = 4, **more: int) -> int:
        nonlocal b
        b = b + 1
        return a + b * 10 + c * 100 + x

    return inner


CLOSURE = """
# a comment above

def __closure_of_inner(a, b, c):
    def inner(x, *rest, q=4, **more):
        nonlocal b
        b = b + 1
        return a + b * 10 + c * 100 + x
    return inner
"""


def again(text: str, code: types.CodeType, **more: object) -> types.CodeType:
    """Recompile a text without placeholders."""
    return recompile(text, code, filename="file.py", **{"placeholders": {}, **more})  # type: ignore[arg-type]


def qualified_name(code: types.CodeType, otherwise: str) -> str:
    """Return the qualified name that a code object carries, where this Python has it."""
    name: str = getattr(code, "co_qualname", otherwise)
    return name


def test_it_is_legal_as_the_code_of_the_function() -> None:
    function = make()
    assert isinstance(function, types.FunctionType)
    code = again(CLOSURE, function.__code__)
    assert verify(read(function.__code__), read(code)).level is Level.EXACT
    before = function(5)
    function.__code__ = code
    assert function(5) == before + 10
    assert code.co_name == "inner"
    assert qualified_name(code, "make.<locals>.inner") == "make.<locals>.inner"
    assert code.co_filename == "file.py"
    assert code.co_firstlineno == 5
    assert {line for *_, line in code.co_lines() if line} - {5} == {7, 8}


@pytest.mark.parametrize("order", ["abc", "acb", "bac", "bca", "cab", "cba"])
def test_free_variables_have_the_order_of_the_original(order: str) -> None:
    function = make()
    assert isinstance(function, types.FunctionType)
    original = lay_out(function.__code__, function.__code__.replace(co_freevars=tuple(order)))
    code = again(CLOSURE, original)
    assert code.co_freevars == tuple(order)
    values = {"a": 1, "b": 2, "c": 3}
    moved = types.FunctionType(code, {}, "f", (), tuple(types.CellType(values[name]) for name in order))
    assert [moved(0, q=0), moved(0, q=0)] == [331, 341]
    assert verify(read(original), read(code)).level is Level.EXACT


def test_free_variables_that_the_text_leaves_out_are_there() -> None:
    function = make()
    assert isinstance(function, types.FunctionType)
    text = "def __closure_of_inner(b):\n def inner(x, *rest, q=4, **more): return b + x\n return inner"
    code = again(text, function.__code__)
    assert code.co_freevars == ("a", "b", "c")
    function.__code__ = code
    assert function(40) == 42


def test_a_closure_without_any_free_variable_in_its_text() -> None:
    function = make()
    assert isinstance(function, types.FunctionType)
    code = again(
        "def inner(x, *rest, q=4, **more):\n try: return int(x)\n except ValueError: return -1", function.__code__
    )
    function.__code__ = code
    assert [function("5"), function("x")] == [5, -1]
    assert {line for *_, line in code.co_lines() if line} - {1} == {2, 3}


CELLS = """
def f(p, z):
    y = z
    w = lambda: (p, y)
    return w, y
"""


def test_variables_become_cells_that_were_cells() -> None:
    original = code_of(CELLS)
    assert original.co_cellvars == ("p", "y")
    text = """
def f(p, z):
    try:
        y = z
        y = y + int(p)
        del z
        return (y,
                p)
    except ValueError as y:
        return p
"""
    code = again(text, original)
    assert code.co_cellvars == ("p", "y")
    function = types.FunctionType(code, {"int": int, "ValueError": ValueError})
    assert [function("1", 2), function("x", 2)] == [(3, "1"), "x"]
    names = {instruction.opname for instruction in dis.get_instructions(code) if instruction.argval in ("p", "y")}
    assert names <= {"MAKE_CELL", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"}


def test_cells_have_the_order_of_the_original() -> None:
    original = code_of("def f():\n y = 1\n x = 2\n return lambda: (x, y)")
    turned = lay_out(original, original.replace(co_cellvars=("y", "x")))
    assert turned.co_cellvars == ("y", "x")
    code = again("def f():\n y = 1\n x = 2\n return lambda: (x, y)", turned)
    assert code.co_cellvars == ("y", "x")
    assert types.FunctionType(code, {})()() == (2, 1)
    assert verify(read(turned), read(code)).level is Level.EXACT


def test_many_variables_need_prefixes() -> None:
    names = [f"v{number}" for number in range(300)]
    body = "".join(f" {name} = {number}\n" for number, name in enumerate(names))
    text = f"def f():\n{body} zz = 1\n yy = 2\n return lambda: (yy, zz, v299, v0), {', '.join(names)}"
    original = code_of(text)
    order = original.co_cellvars[::-1]
    turned = lay_out(original, original.replace(co_cellvars=order))
    assert turned.co_cellvars == order
    result = types.FunctionType(turned, {})()
    assert result[0]() == (2, 1, 299, 0)
    assert result[1:] == tuple(range(300))


def test_placeholders_are_the_very_objects_again() -> None:
    thing = {"a": object()}
    text = """
def f(x):
    def inner():
        return HERE
    class Inside:
        what = HERE
    return HERE, inner(), CALLED(x), Inside.what
"""
    code = again(text, code_of("def f(x): pass"), placeholders={"HERE": thing, "CALLED": abs})
    result = types.FunctionType(code, {"__builtins__": __builtins__, "HERE": 1})(-3)
    assert result[0] is result[1] is result[3] is thing
    assert result[2] == 3
    assert any(const is thing for const in code.co_consts)
    assert "HERE" not in [instruction.argval for instruction in dis.get_instructions(code)]


def test_names_that_are_no_identifiers_come_back() -> None:
    original = code_of("def f(a): return (x for x in a)").co_consts[1]
    assert isinstance(original, types.CodeType)
    text = "def genexpr(implicit0):\n for y in implicit0: yield y"
    code = again(text, original, function="genexpr", names={"implicit0": ".0"})
    assert code.co_varnames[0] == ".0"
    assert code.co_name == "<genexpr>"
    assert verify(read(original), read(code)).level is Level.EQUIVALENT
    assert inspect.isfunction(types.FunctionType(code, {}))


def test_nested_names_have_the_qualified_names_of_the_original() -> None:
    function = make()
    assert isinstance(function, types.FunctionType)
    text = CLOSURE.replace("        nonlocal b\n", "        nonlocal b\n        class C: m = lambda: 1\n        C\n")
    code = again(text, function.__code__)
    body = next(const for const in code.co_consts if isinstance(const, types.CodeType))
    wanted = f"{read(function.__code__).qualname}.<locals>.C"
    assert qualified_name(body, wanted) == wanted
    assert wanted in body.co_consts


def test_future_flags_and_imports_of_the_module_are_kept() -> None:
    module = compile(
        "from __future__ import annotations\nimport m\ndef f(a):\n x: m = 1\n return m.g(a)",
        "<m>",
        "exec",
        dont_inherit=True,
    )
    original = next(const for const in module.co_consts if isinstance(const, types.CodeType))
    code = again("def f(a):\n    x: m = 1\n    return m.g(a)\n", original)
    assert verify(read(original), read(code)).level is Level.EXACT
    assert code.co_flags == original.co_flags


BAD = {
    "no python": ("def f(a, b:", "does not compile"),
    "no such function": ("def g(a, b): pass\ndef h(a, b): pass", "has no function f (there: g, h)"),
    "nothing": ("", "has no function f (there: none)"),
    "another parameter": ("def f(a, c): pass", "signature"),
    "keyword-only": ("def f(a, *, b): pass", "signature"),
    "a generator": ("def f(a, b): yield", "flags"),
    "another cell": ("def f(a, b): return lambda: a", "a: not the same kind of variable as in the original"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_stand_in_is_refused(what: str) -> None:
    text, reason = BAD[what]
    with pytest.raises(DecompilationError) as caught:
        again(text, code_of("def f(a, b): return a"))
    assert reason in str(caught.value)


def test_the_only_function_stands_in_whatever_its_name() -> None:
    original = code_of("f = lambda a, b: a + b")
    code = again("lambda_function = lambda a, b: a + b", original)
    assert code.co_name == "<lambda>"
    assert again("def anything(a, b): return a + b", original).co_name == "<lambda>"


def test_a_text_without_yield_is_no_generators() -> None:
    def counted():  # type: ignore[no-untyped-def]
        if False:
            yield
        return 1

    with pytest.raises(DecompilationError, match="flags"):
        again("def counted():\n    return 1\n", counted.__code__)
    assert (
        again("def counted():\n    if False: yield\n    return 1\n", counted.__code__).co_flags & inspect.CO_GENERATOR
    )


@pytest.mark.skipif("RETURN_GENERATOR" not in dis.opmap, reason="before 3.11 the flag makes the generator")
def test_code_that_only_its_flags_call_a_generators_is_not_taken_for_one() -> None:
    def plain():  # type: ignore[no-untyped-def]
        return 1

    code = plain.__code__.replace(co_flags=plain.__code__.co_flags | inspect.CO_GENERATOR)
    with pytest.raises(DecompilationError, match="makes no generator"):
        verify(read(code), read(code.replace(co_name="other")))


def test_a_text_that_looks_like_a_placeholder_s_stand_in_stays_a_text() -> None:
    def says(x: object) -> object:
        return x, "<placeholder thing>", thing  # type: ignore[name-defined]  # noqa: F821

    text = 'def says(x):\n    return (x, "<placeholder thing>", thing)\n'
    code = again(text, says.__code__, placeholders={"thing": 7})
    assert types.FunctionType(code, {})(1) == (1, "<placeholder thing>", 7)
