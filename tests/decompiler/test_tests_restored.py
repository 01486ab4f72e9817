"""Tests and conditional expressions where `not` and parentheses take columns: the form that the code gives, and its
source."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.guarded import note_test
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.tests import MAX_OPERANDS, restore_conditional_expressions, restore_tests
from tests.decompiler.placing import as_compiled, plain, written

RESTORED = {
    "operands of a value in parentheses": ("x = a and b and c and d", "x = a and (b and c) and d"),
    "a conditional expression whose arms change places": ("x = a if not c else b", "x = b if c else a"),
    "a test of an assertion": ("assert not a and not b", "assert not (a or b)"),
    "a test of a loop": ("while not a and not b:\n    c()", "while not (a or b):\n    c()"),
    "`not` before a comparison": ("if a is not b:\n    c()", "if not a is b:\n    c()"),
    "`not` before a comparison in parentheses": ("if a not in b:\n    c()", "if (not a in b):\n    c()"),
    "`not` before the comparison that begins a test": (
        "if a is not b and c:\n    d()",
        "if not a is b and c:\n    d()",
    ),
    "`not` before the comparison of an elif": (
        "if x:\n    y()\nelif a is not b:\n    c()",
        "if x:\n    y()\nelif not a is b:\n    c()",
    ),
    "`not` before a comparison that is not the first": (
        "if a and b is not c:\n    d()",
        "if a and not b is c:\n    d()",
    ),
    "`not` before two operands": ("if not a and not b:\n    c()", "if not (a or b):\n    c()"),
    "`not` before comparisons of three": ("if not a < b < c and not d:\n    e()", "if not (a < b < c or d):\n    e()"),
}
"""What the code gives, and the source."""
STAYS = {
    "two tests with `not`": "if not a and not b:\n    c()",
    "a conditional expression": "x = a if b else c",
    "a value": "x = a and b and c and d",
    "a comparison with the opposite operator": "if a is not b:\n    c()",
    "a comparison in parentheses": "if (a is not b):\n    c()",
    "a comparison of three": "if a is not b is not c:\n    d()",
    "a test with another operator": "if not a == b:\n    c()",
}


def restored(form: str, source: str) -> str:
    return written(lambda body: restore_tests(body, Columns(body)), form, source)


@pytest.mark.parametrize("case", RESTORED)
def test_a_test_is_written_as_its_columns_show(case: str) -> None:
    form, source = RESTORED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_a_test_that_is_written_so_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


OTHERWISE = {
    "the first operand is a comparison, and nothing shows a `not` before it": (
        "if a is b and not c and d:\n    e()",
        "if not (not a is b or c or not d):\n    e()",
        "if a is b and not c and d:\n    e()",
    ),
    "a comparison that is not the first, with its `not`": (
        "if not a and b is not c:\n    d()",
        "if not (a or not b is not c):\n    d()",
        "if not (a or not b is not c):\n    d()",
    ),
    "a comparison that is not the first, without a `not` that its opposite would need": (
        "if not a and b is c and not d and not e:\n    f()",
        "if not (a or b is not c or d or e):\n    f()",
        "if not a and b is c and not (d or e):\n    f()",
    ),
    "a comparison of three has no opposite": (
        "if a is b is c and not d:\n    e()",
        "if not (not a is b is c or d):\n    e()",
        "if not (not a is b is c or d):\n    e()",
    ),
    "an arm without a place": ("x = c if not a else b", "[b, a]", "x = c if not a else b"),
    "a test without a place": ("x = c if not a else b", "[b, c]", "x = c if not a else b"),
    "another arm without a place": ("x = c if not a else b", "[a, c]", "x = c if not a else b"),
    "tests without places": ("if not (a and b):\n    c()", "x", "if not a or not b:\n    c()"),
    "comparisons without places": ("if not (a and b < c):\n    d()", "x", "if not (a and b < c):\n    d()"),
    "a test with `not` without places": ("if not (a and (not b)):\n    c()", "x", "if not (a and (not b)):\n    c()"),
    "a test in a test": ("if a and (b and c):\n    d()", "if a and b and c:\n    d()", "if a and b and c:\n    d()"),
    "a test begins its line": (
        "if x and (not a and not b):\n    c()", "if x and not (\n    a\n    or b\n):\n    c()",
        "if x and (not (a or b)):\n    c()",
    ),
}
"""The form, the source that gives places, and what is written."""


@pytest.mark.parametrize("case", OTHERWISE)
def test_what_is_written(case: str) -> None:
    form, source, given = OTHERWISE[case]
    assert restored(form, source) == plain(given)


def test_handlers_say_more_than_columns() -> None:
    """From 3.14 on, handlers show the parentheses of some operations."""
    source = "x = a and (b and c) and d"
    body = as_compiled("x = a and b and c and d", source)
    for node in ast.walk(body[0]):
        if isinstance(node, ast.BoolOp):
            note_test(node, guarded=True)
    restore_conditional_expressions(body)
    assert ast.unparse(body[0]) == "x = a and b and c and d"


# -- tests of very many operands ------------------------------------------------------------------

MANY = [f"a{number}" for number in range(MAX_OPERANDS + 1)]
AND, OR = " and ".join(MANY), " or ".join(MANY)


@pytest.mark.parametrize(
    ("test", "given"),
    [
        (f"b and ({AND})", f"b and {AND}"),
        (f"({AND}) and b", f"{AND} and b"),
        (f"x or b and (c and ({AND}))", f"x or b and c and {AND}"),
        (f"b and ({OR}) and ({AND})", f"b and ({OR}) and {AND}"),
        (f"{AND} and (b or c)", f"{AND} and (b or c)"),
        (f"b and (c or {OR})", f"b and (c or {OR})"),
        (f"b and (({AND}) and ({AND})) and c", f"b and {AND} and {AND} and c"),
    ],
)
def test_long_tests_are_joined(test: str, given: str) -> None:
    assert restored(f"if {test}:\n    d()", "d()") == plain(f"if {given}:\n    d()")


@pytest.mark.parametrize("operands", [MAX_OPERANDS, MAX_OPERANDS + 1])
def test_no_leading_not_is_sought_for_a_long_test(operands: int) -> None:
    names = [f"a{number}" for number in range(operands)]
    form, source = " and ".join(f"(not {name})" for name in names), f"not ({' or '.join(names)})"
    assert restored(f"if {form}:\n    d()", f"if {source}:\n    d()") == plain(
        f"if {source if operands <= MAX_OPERANDS else form}:\n    d()"
    )
