"""What `ast` has no node for is written with what it has, and a condition of one kind is one condition."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.known import IMPORT, IMPORT_FROM
from depyf.decompiler.lift.nodes import FromModule, Intrinsic, Module, Object, Tuple_
from depyf.decompiler.passes.expressions import finish_expressions


def finished(expr: ast.expr) -> ast.expr:
    body: list[ast.stmt] = [ast.Expr(value=expr)]
    finish_expressions(body)
    assert isinstance(body[0], ast.Expr)
    return body[0].value


def value_of(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


A, B = ast.Name(id="a", ctx=ast.Load()), ast.Name(id="b", ctx=ast.Load())
SHOWN = "__import__('sys').displayhook(a)"


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Intrinsic(name="unary_positive", args=[A]), "+a"),
        (Intrinsic(name="INTRINSIC_PRINT", args=[A]), SHOWN),
    ],
)
def test_an_intrinsic_that_python_has_a_way_to_write(expr: ast.expr, text: str) -> None:
    assert ast.unparse(finished(expr)) == text


def test_another_intrinsic_stays() -> None:
    expr = Intrinsic(name="INTRINSIC_TYPEVAR", args=[A])
    assert finished(expr) is expr


@pytest.mark.parametrize("name", ["unary_positive", "INTRINSIC_PRINT"])
def test_a_module_with_the_name_of_an_intrinsic_is_a_module(name: str) -> None:
    call = finished(Module(name=name, level=0, names=None, is_lazy=False))
    assert isinstance(call, ast.Call) and isinstance(call.func, Object)


def test_a_tuple_is_a_display() -> None:
    assert type(finished(Tuple_(elts=[A, B], ctx=ast.Load()))) is ast.Tuple


def test_a_module_that_nothing_binds_is_a_call() -> None:
    call = finished(FromModule(module=Module(name="m", level=1, names=("a",), is_lazy=False), name="a"))
    assert isinstance(call, ast.Call) and isinstance(call.func, Object) and call.func.value == IMPORT_FROM
    module, name = call.args
    assert isinstance(module, ast.Call) and isinstance(module.func, Object) and module.func.value == IMPORT
    assert [ast.unparse(argument) for argument in (*module.args, name)] == ["'m'", "1", "('a',)", "'a'"]


@pytest.mark.parametrize(
    ("source", "operands"),
    [
        ("a and (b and c)", 3),
        ("(a and b) and c", 3),
        ("((a or b) or c) or (d or e)", 5),
        ("a and (b or c)", 2),
        ("a and (b and 1)", 3),
        ("(a and 0) and b", 2),
        ("(a and 1) and b", 3),
        ("(a or 1) or b", 2),
        ("(a or 0) or b", 3),
        ("(a and (b and 0)) and c", 2),
        ("(a and (b or 0)) and c", 3),
        ("(a or (b and 1)) or c", 3),
    ],
)
def test_operands_of_one_kind_are_of_one_condition(source: str, operands: int) -> None:
    """A constant that ends one keeps it whole before others: with the constant among them, they would go."""
    expression = finished(value_of(source))
    assert isinstance(expression, ast.BoolOp)
    assert len(expression.values) == operands
    assert all(isinstance(operand, ast.expr) for operand in expression.values)


@pytest.mark.parametrize(
    ("source", "marks", "given"),
    [
        ("not a is b", (), "a is not b"),
        ("not a in b", (), "a not in b"),
        ("not a not in b", (), "a in b"),
        ("not a is b", ("apart", "fused"), "a is not b"),
        ("not a is b", ("apart",), "not a is b"),
        ("not a < b", (), "not a < b"),
        ("not a is b is c", (), "not a is b is c"),
        ("-(a is b)", (), "-(a is b)"),
        ("not a", (), "not a"),
    ],
)
def test_not_before_a_comparison(source: str, marks: tuple[str, ...], given: str) -> None:
    expr = value_of(source)
    assert isinstance(expr, ast.UnaryOp)
    for mark in marks:
        setattr(expr.operand, mark, True)
    assert ast.unparse(finished(expr)) == given
