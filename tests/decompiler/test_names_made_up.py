"""Names that the decompiler makes up: each is an identifier, is taken once, and stands for one thing."""

from __future__ import annotations

import types

import pytest

from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.passes.names import Names


class Thing:
    """A class whose objects have no literal."""


def function_of(source: str) -> types.CodeType:
    """Return the code of the only function in a source."""
    return next(const for const in compile(source, "<names>", "exec").co_consts if isinstance(const, types.CodeType))


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("x", "x"),
        ("a b", "a_b"),
        ("__x__", "x"),
        ("1", "_1"),
        ("", "name"),
        ("<>", "name"),
        ("class", "class_2"),
        ("taken", "taken_2"),
        ("\N{LATIN SMALL LIGATURE FI}t", "fit"),
        ("\N{SUPERSCRIPT TWO}", "_2"),
    ],
)
def test_a_fresh_name(wish: str, name: str) -> None:
    names = Names({"taken"})
    assert names.fresh(wish) == name
    assert name in names.taken


def test_a_wish_that_comes_again_is_numbered() -> None:
    names = Names(set())
    assert [names.fresh("x") for _ in range(3)] == ["x", "x_2", "x_3"]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Thing(), "object_Thing"),
        (Thing, "object_Thing"),
        (types, "object_types"),
        (types.SimpleNamespace.__init__, "object_SimpleNamespace___init"),
        (function_of("def f(): pass"), "object_f"),
    ],
)
def test_an_object_without_a_literal(value: object, name: str) -> None:
    names = Names(set())
    assert names.of_object(value) == name
    assert names.objects[name] is value


def test_an_object_has_one_name() -> None:
    names, thing, other = Names(set()), Thing(), Thing()
    assert [names.of_object(item) for item in (thing, other, thing)] == [
        "object_Thing",
        "object_Thing_2",
        "object_Thing",
    ]
    assert names.objects == {"object_Thing": thing, "object_Thing_2": other}


def test_code_stands_for_the_program_s_own_object() -> None:
    names, code = Names(set()), function_of("def f(): pass")
    assert names.of_object(read(code)) == "object_f"
    assert names.objects == {"object_f": code}


def test_code_that_no_program_has_stands_for_itself() -> None:
    names, code = Names(set()), read(function_of("def f(): pass"))
    code.origin = None
    name = names.of_object(code)
    assert names.objects == {name: code}


def test_a_variable_whose_name_is_none_has_one_identifier() -> None:
    names = Names(set())
    assert [names.of_variable("a-b"), names.of_variable("a b"), names.of_variable("a-b")] == ["a_b", "a_b_2", "a_b"]
    assert names.variables == {"a_b": "a-b", "a_b_2": "a b"}


def test_names_of_variables_that_no_operation_names_are_free() -> None:
    code = read(function_of("def f(given):\n    kept = given\n    if 0:\n        gone = 1\n    return kept"))
    graph = lift(normalise(code))
    graph.hints[7] = "seven"
    names = Names({"given", "gone", "of_others", "kept"})
    names.free(graph)
    assert (names.taken, names.hints) == ({"given", "of_others", "kept"}, {7: "seven"})
