"""Tests of statements inside each other: the form that the code gives, and the source it is of."""

from __future__ import annotations

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.splits import split_tests
from tests.decompiler.placing import plain, written

PARTED = {
    "two": ("if a and b:\n    c()", "if a:\n    if b:\n        c()"),
    "three": ("if a and b and c:\n    d()", "if a:\n    if b:\n        if c:\n            d()"),
    "a test of two, and one inside": ("if a and b and c:\n    d()", "if a and b:\n    if c:\n        d()"),
    "a test, and one of two inside": ("if a and b and c:\n    d()", "if a:\n    if b and c:\n        d()"),
    "tests with not": ("if not a and not b:\n    c()", "if not a:\n    if not b:\n        c()"),
    "in an elif": ("if x:\n    y()\nelif a and b:\n    c()", "if x:\n    y()\nelif a:\n    if b:\n        c()"),
    "two columns to the right": ("if x:\n  y()\nif a and b:\n  c()", "if x:\n  y()\nif a:\n  if b:\n    c()"),
    "a bracket in the first": ("if a and b:\n    c()", "if (a):\n    if b:\n        c()"),
    "a bracket in the second": ("if a and b:\n    c()", "if a:\n    if (b):\n        c()"),
    "a body without a place": ("if a and b:\n    pass", "if a:\n    if b:\n        pass"),
    "an elif with a body without a place": (
        "if x:\n    y()\nelif a and b:\n    pass",
        "if x:\n    y()\nelif a:\n    if b:\n        pass",
    ),
}
STAYS = {
    "one test": "if a and b:\n    c()",
    "a test on two lines": "if (a and\n    b):\n    c()",
    "a test on two lines, a step to the right": "if (a and\n        b):\n    c()",
    "a test on two lines, with a body without a place": "if (a and\n    b):\n    pass",
    "alternatives": "if (a or\n       b):\n        c()",
    "a test inside of one with an else": "if a:\n    if b:\n        c()\nelse:\n    d()",
    "all on one line, the body far to the right": "if a and            b:    c()",
}


def restored(form: str, source: str) -> str:
    return written(lambda body: split_tests(body, Columns(body)), form, source)


@pytest.mark.parametrize("case", PARTED)
def test_tests_of_several_statements_are_parted(case: str) -> None:
    form, source = PARTED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_a_test_of_one_statement_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize("source", ["z", "a", "b\nc()", "a\nc()", "if a:\n        c()"])
def test_without_places_a_test_stays(source: str) -> None:
    assert restored("if a and b:\n    c()", source) == "if a and b:\n    c()"


def test_where_there_is_an_else_a_test_stays() -> None:
    """The `else` would belong to one of the statements alone."""
    form, source = "if a and b:\n    c()\nelse:\n    d()", "if a:\n    if b:\n        c()\n    else:\n        d()"
    assert restored(form, source) == plain(form)


def test_alternatives_are_not_inside_each_other() -> None:
    assert restored("if a or b:\n    c()", "if a:\n    if b:\n        c()") == plain("if a or b:\n    c()")
