"""Expressions that a function of their own evaluates: text in, text out."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.code import Code
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.lift.nodes import Function, Var
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.deferred import deferred_statements, deferred_value, evaluated_later, written_in
from depyf.decompiler.show import tree
from tests.decompiler.test_forms import code_of

TEST = "if format > 2:\n    raise NotImplementedError\n"
AROUND = code_of("def f(a): return g")


def function(name: str = "format") -> Code:
    code = code_of("def f(format): return g")
    code.varnames = (name,)
    return code


def statements(text: str, code: Code) -> list[ast.stmt]:
    """Return statements whose names are variables."""
    module = ast.parse(text)
    for node in ast.walk(module):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.Name):
                setattr(node, field, Var(value.id, value.ctx, "fast" if value.id in code.varnames else "global"))
    return module.body


def text_of(stmts: list[ast.stmt]) -> str:
    return tree.text(stmts, Grammar.of(AROUND)).strip()


BEHIND = {
    f"{TEST}return g": "return g",
    f"{TEST}g()\nreturn g": "g()\nreturn g",
    f"{TEST}else:\n    g()\nreturn g": "g()\nreturn g",
    "return g": "return g",
    f"g()\n{TEST}return g": f"g()\n{TEST}return g",
    TEST.replace("> 2", ">= 2"): TEST.replace("> 2", ">= 2").strip(),
    TEST.replace("> 2", "> 3"): TEST.replace("> 2", "> 3").strip(),
    TEST.replace("> 2", "> 2 > 1"): TEST.replace("> 2", "> 2 > 1").strip(),
    TEST.replace("format", "other"): TEST.replace("format", "other").strip(),
    TEST.replace("raise NotImplementedError", "pass"): TEST.replace("raise NotImplementedError", "pass").strip(),
    TEST.replace("format > 2", "format"): TEST.replace("format > 2", "format").strip(),
    TEST.replace("if", "while"): TEST.replace("if", "while").strip(),
}


@pytest.mark.parametrize("text", BEHIND)
def test_what_stands_behind_the_test_of_the_format(text: str) -> None:
    code = function()
    bodies = {id(code): Body(code, statements(text, code))}
    assert text_of(deferred_statements(Function(code=code), bodies)) == BEHIND[text]


def test_what_is_no_function_evaluates_nothing() -> None:
    assert deferred_statements(None, {}) == []
    assert deferred_statements(ast.Name("f", ast.Load()), {}) == []
    assert deferred_value(None, {}, AROUND) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [(f"{TEST}return g.a", "g.a"), ("return", None), ("return g\ng()", None), ("g()", None), ("return g", "g")],
)
def test_the_value_that_is_returned(text: str, value: str | None) -> None:
    code = function()
    value_node = deferred_value(Function(code=code), {id(code): Body(code, statements(text, code))}, AROUND)
    assert (None if value_node is None else text_of([ast.Expr(value_node)])) == value


LATER = {
    (".format", f"{TEST.replace('format', 'F')}return g"): "g",
    ("format", f"{TEST}return g"): None,
    (".format", ""): None,
    (".format", "return g"): None,
    (".format", f"{TEST.replace('format', 'F')}g()\nreturn g"): None,
    (".format", f"{TEST.replace('format', 'F')}g()"): None,
    (".format", f"{TEST.replace('format', 'F')}return"): None,
}


@pytest.mark.parametrize("parts", LATER)
def test_what_is_evaluated_later(parts: tuple[str, str]) -> None:
    name, text = parts
    code = function(name)
    stmts = statements(text, code)
    for node in (node for stmt in stmts for node in ast.walk(stmt)):
        if isinstance(node, Var) and node.id == "F":
            node.id = name
    value_node = evaluated_later(Body(code, stmts))
    assert (None if value_node is None else text_of([ast.Expr(value_node)])) == LATER[parts]


def test_a_module_has_no_other_names_than_global_ones() -> None:
    module = code_of("x = 1")
    module.name = "<module>"
    for around, scope in ((AROUND, "global"), (module, "name")):
        first, second = Var("g", ast.Load(), "global"), Var("h", ast.Load(), "deref")
        written_in(ast.Tuple([first, second], ast.Load()), around)
        assert (first.scope, second.scope) == (scope, "deref")
