"""Code that is equal byte for byte needs one listing; what differs in anything that a proof reads is not equal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.listings import Listings
from depyf.bytecode.reader import read
from depyf.verify.compare import verify
from depyf.verify.level import Level
from depyf.verify.same import nested_if_same

TEXT = """
def f(a, b=0.0):
    try:
        return [a for a in b if (lambda: a)]
    except E:
        return g(a, (1, frozenset({2})))
"""


def function(text: str = TEXT) -> Code:
    """Return the code of the function of a text."""
    module = read(compile(text, "<test>", "exec", dont_inherit=True))
    return next(const for const in module.consts if isinstance(const, Code))


def test_equal_code_is_exact_by_the_listing_of_one() -> None:
    """Two compiles of one text need the listings of the original alone, nested code included."""
    listings, original, candidate = Listings(), function(), function()
    assert verify(original, candidate, listings=listings).level is Level.EXACT
    assert id(original) in listings.known
    assert id(candidate) not in listings.known


def test_nested_code_is_left_to_be_proven() -> None:
    """What differs within nested code is found there."""
    first, other = function(), function(TEXT.replace("(lambda: a)", "(lambda: b)"))
    assert verify(first, other).level is Level.UNPROVEN
    assert nested_if_same(function(), function()) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"bytecode": b"\0\0"},
        {"exception_table": b"\1"},
        {"names": ("h", "E")},
        {"varnames": ("b", "a")},
        {"cellvars": ("c",)},
        {"freevars": ("c",)},
        {"consts": ()},
        {"optimised": True},
    ],
)
def test_code_that_differs_in_one_thing_is_not_the_same(change: dict[str, object]) -> None:
    """Each field that a listing is made of counts."""
    assert nested_if_same(function(), replace(function(), **change)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("pair", [("0.0", "-0.0"), ("1", "True"), ("(1,)", "(1.0,)"), ("'a'", "b'a'")])
def test_constants_are_the_same_by_type_and_value(pair: tuple[str, str]) -> None:
    """Constants that are equal for Python and differ for a program are not the same."""
    first, other = (function(f"def f():\n    return {literal}") for literal in pair)
    assert nested_if_same(first, other) is None
