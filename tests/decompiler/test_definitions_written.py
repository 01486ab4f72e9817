"""Functions and classes that a body makes, and the lambdas and definitions that they are."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from depyf.bytecode.code import Code
from depyf.decompiler.lift.nodes import BuildClass, Function, Temp, TypeAlias, TypeAliasStatement
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.definitions import define, enclose, restore_functions
from depyf.decompiler.passes.names import Names
from tests.decompiler.parsed import codes_in, function_of, parsed, shown, steps_of
from tests.decompiler.test_forms import code_of

SOURCE = "def f(a):\n    def g(b): pass\n    async def h(b): pass\n    class C: pass\n    return lambda b: a"
CODE = code_of(SOURCE)
G, H, C, LAMBDA = codes_in(SOURCE)
NODES: dict[str, ast.expr] = {"build": BuildClass(type_params=[])}
TARGETS = {"v1": Temp(temp=1)}
BODIES = {
    G: "return a", H: "a", C: "a = 1", LAMBDA: "return a",
}


def functions() -> tuple[dict[str, ast.expr], Bodies]:
    nodes = {name: function_of(code) for name, code in (("G", G), ("H", H), ("K", C), ("L", LAMBDA))}
    return {**nodes, **NODES}, {id(code): Body(code, parsed(text)) for code, text in BODIES.items()}


def restored(source: str) -> str:
    nodes, bodies = functions()
    return shown(restore_functions(parsed(source, nodes=nodes), CODE, bodies))


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("g = G", "def g(b):\n    return a\n"),
        ("h = H", "async def h(b):\n    a\n"),
        ("v1 = G", "def g(b):\n    return a\n"),
        ("g = d(G)", "@d\ndef g(b):\n    return a\n"),
        ("g = d(e(G))", "@d\n@e\ndef g(b):\n    return a\n"),
        ("C = build(K, 'C')", "class C:\n    a = 1\n"),
        ("C = build(K, 'C', B, k=a)", "class C(B, k=a):\n    a = 1\n"),
        ("C = d(build(K, 'C'))", "@d\nclass C:\n    a = 1\n"),
        ("x = L", "x = lambda b: a\n"),
        ("x = [L]", "x = [lambda b: a]\n"),
    ],
)
def test_what_is_made_is_defined(source: str, given: str) -> None:
    assert restored(source) == given


@pytest.mark.parametrize(
    "source",
    [
        "v1 = a", "x = G", "g.a = G", "g = x = G", "g = d(G, a)", "g = d(G, k=a)", "x = d(a)", "g = d(e(G, a))",
        "g = d(e(G, k=a))", "C = build(a, 'C')", "C = build(K, a)", "C = build('C', K)",
    ],
)
def test_what_is_no_definition_stays(source: str) -> None:
    nodes, _ = functions()
    assert restored(source) == shown(parsed(source, nodes=nodes))


def test_a_decorator_is_no_call_of_a_lambda() -> None:
    """A decorated lambda is a call."""
    assert restored("g = d(L)") == "g = d(lambda b: a)\n"


@pytest.mark.parametrize("source", ["a", "a; return a", "return", "yield a"])
def test_a_body_that_is_no_expression(source: str) -> None:
    body = [ast.Expr(value=function_of(LAMBDA))]
    restore_functions(body, CODE, {id(LAMBDA): Body(LAMBDA, parsed(source))})  # type: ignore[arg-type]
    assert isinstance(body[0].value, Function)


def test_a_type_alias_is_a_statement_under_its_own_name() -> None:
    alias = TypeAlias(name="x", type_params=[], value=ast.Constant(value=1))
    (statement,) = restore_functions(parsed("x = t", nodes={"t": alias}), CODE, {})
    assert isinstance(statement, TypeAliasStatement)
    for source in ("y = t", "x = d(t)"):
        (statement,) = restore_functions(parsed(source, nodes={"t": alias}), CODE, {})
        assert isinstance(statement, ast.Assign)


def test_nothing_is_told_of_a_call_that_stays() -> None:
    assert steps_of(lambda: restored("f(a)")) == []


# -- a separate function -----------------------------------------------------------------------


def separate(code: Code, source: str, maker: Function | None = None) -> tuple[str, str]:
    stmt, name = define(Body(code, parsed(source)), Names({"a"}), maker)
    return shown([stmt]), name


def maker(code: Code) -> Function:
    definition = function_of(code)
    definition.annotations = ast.Tuple(elts=[ast.Constant(value="b"), ast.Constant(value=1)], ctx=ast.Load())
    return definition


def test_a_function_under_its_name() -> None:
    assert separate(G, "return a") == ("def g(b):\n    return a\n", "g")
    assert separate(H, "a") == ("async def h(b):\n    a\n", "h")


def test_a_lambda() -> None:
    text, name = separate(LAMBDA, "return a", maker(LAMBDA))
    assert text == f"{name} = lambda b: a\n"
    text, name = separate(LAMBDA, "a")
    assert text == f"def {name}(b):\n    a\n"


def test_a_lambda_that_is_a_definition_has_no_annotations() -> None:
    assert ": 1" not in separate(LAMBDA, "a", maker(LAMBDA))[0]
    assert separate(G, "a", maker(G))[0] == "def g(b: 1):\n    a\n"


@pytest.mark.parametrize("name", ["<genexpr>", "a b", "class"])
def test_a_name_that_cannot_be_written(name: str) -> None:
    text, name_given = separate(replace(G, name=name), "return a")
    assert name_given.isidentifier() and name_given != name
    assert text == f"def {name_given}(b):\n    return a\n"


def test_a_parameter_that_cannot_be_written() -> None:
    text, _ = separate(replace(G, varnames=(".0",)), "return a")
    assert text.startswith("def g(") and ".0" not in text
    assert separate(replace(G, varnames=("c",)), "return a")[0] == "def g(c):\n    return a\n"


def test_a_function_with_free_variables_stands_in_one_that_has_them() -> None:
    (inner,) = codes_in("def f(a, b):\n    return lambda: (a, b)")
    assert shown([enclose(ast.Pass(), "f", inner)]).splitlines()[1:] == ["    pass", "    return f"]
    assert "(a, b):" in shown([enclose(ast.Pass(), "f", inner)])
