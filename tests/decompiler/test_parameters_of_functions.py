"""Defaults and annotations that the operation which makes a function holds, as the parameters that have them."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.nodes import Function
from depyf.decompiler.passes.parameters import elements, parameters
from tests.decompiler.parsed import function_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, *, c, d): pass")


def display(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def made(**held: str) -> Function:
    function = function_of(CODE)
    for name, source in held.items():
        setattr(function, name, display(source))
    return function


def written(function: Function | None) -> str:
    arguments, returns = parameters(CODE, function)
    return ast.unparse(arguments) + (f" -> {ast.unparse(returns)}" if returns is not None else "")


@pytest.mark.parametrize(
    ("held", "given"),
    [
        ({}, "a, b, *, c, d"),
        ({"defaults": "(x,)"}, "a, b=x, *, c, d"),
        ({"defaults": "(1, 2)"}, "a=1, b=2, *, c, d"),
        ({"kwdefaults": "{'d': x}"}, "a, b, *, c, d=x"),
        ({"annotations": "{'a': x, 'return': y}"}, "a: x, b, *, c, d -> y"),
        ({"annotations": "('c', x, 'return', y)"}, "a, b, *, c: x, d -> y"),
    ],
)
def test_what_a_function_is_made_with(held: dict[str, str], given: str) -> None:
    assert written(made(**held)) == given


def test_a_bare_code_object_has_names_alone() -> None:
    assert written(None) == "a, b, *, c, d"
    assert elements(None) == []


def test_a_constant_tuple() -> None:
    assert [ast.unparse(element) for element in elements(ast.Constant(value=(1, "a")))] == ["1", "'a'"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ({"defaults": "x"}, "not a tuple"),
        ({"defaults": "1"}, "not a tuple"),
        ({"kwdefaults": "x"}, "not a dict"),
        ({"kwdefaults": "{x: 1}"}, "not a constant"),
        ({"kwdefaults": "{1: 1}"}, "not a constant"),
        ({"annotations": "{x: 1}"}, "not a constant"),
        ({"annotations": "x"}, "not a tuple"),
    ],
)
def test_what_no_function_is_made_with(held: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        written(made(**held))
