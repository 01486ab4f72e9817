"""Constants whose methods raise: comparing copies of code runs nothing of the program's.

Each source is written so that one user of the comparator meets the constant; the text has to be that of a constant
that answers all questions.
"""

from __future__ import annotations

import types
import warnings

import pytest

from depyf.api import decompile_code
from depyf.decompiler.graph.tac import Inst, operation_key, same_operation


class Hostile:
    """A constant that raises for whatever is asked of it."""

    def _refuse(self, *_: object) -> object:
        raise AssertionError("depyf ran the program's code")

    __eq__ = __ne__ = __hash__ = __repr__ = __str__ = __bool__ = __len__ = _refuse  # type: ignore[assignment]


class Plain:
    """A constant without a literal, and without surprises."""


SOURCES = """
def finally_of_two_ways(a):
    try:
        a()
    finally:
        b('here')

def finally_that_is_left(a):
    for x in a:
        try:
            if x():
                return 'here'
        finally:
            b('here')

def rest_of_an_expression(a, b, c):
    return a(b if c else 'here', 'here')

def one_way_out(a):
    try:
        a()
    except E:
        return g('here')
    return g('here')

def same_ends(a):
    while a():
        try:
            g()
        except E:
            b('here')
            continue

def alternatives(a):
    match a:
        case 1 | 2:
            return g('here')
        case _:
            return 'here'

def with_that_returns(a):
    with a:
        if a:
            return g('here')
    return g('here')
"""
CODES = {
    code.co_name: code
    for code in compile(SOURCES, "<test>", "exec").co_consts
    if isinstance(code, types.CodeType)
}


def code_with(name: str, constant: object) -> types.CodeType:
    """Return a function with `constant` in the place of its 'here'."""
    constants = CODES[name].co_consts
    return CODES[name].replace(co_consts=tuple(constant if type(x) is str and x == "here" else x for x in constants))


@pytest.mark.parametrize("name", CODES)
def test_a_hostile_constant_is_written_as_any_other(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hostile = decompile_code(code_with(name, Hostile()))
        plain = decompile_code(code_with(name, Plain()))
    assert hostile.source == plain.source.replace("object_Plain", "object_Hostile")
    assert hostile.level == plain.level


def _constant(value: object) -> Inst:
    return Inst("CONST", value, [], [1], 1, 0)


def test_constants_are_told_apart_by_type() -> None:
    values: list[object] = [1, 1.0, True, 0.0, -0.0, 0, "1", b"1", (1,), (True,), Hostile(), Hostile()]
    for value in values:
        for two in values:
            assert same_operation(_constant(value), _constant(two)) is (value is two)
            assert (operation_key(_constant(value)) == operation_key(_constant(two))) is (value is two)
