"""Tests of loops that were statements in their bodies: the form that the code gives, and the source it is of."""

from __future__ import annotations

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.splits import split_tests
from tests.decompiler.placing import plain, written

PARTED = {
    "a way out": ("while a and b:\n    c()", "while a:\n    if not b:\n        break\n    c()"),
    "a way out with not": ("while a and not b:\n    c()", "while a:\n    if b:\n        break\n    c()"),
    "behind two": ("while a and b and c:\n    d()", "while a and b:\n    if not c:\n        break\n    d()"),
    "the whole body": ("while a and b:\n    c()", "while a:\n    if b:\n        c()\n    else:\n        break"),
    "two on one line": ("while a and b and not c:\n    d()", "while a and b:\n    if c:\n        break\n    d()"),
    "two parts": ("while a and b and c:\n    d()", "while a:\n    if b and c:\n        d()\n    else:\n        break"),
    "nothing else in the body": ("while a and not b:\n    pass", "while a:\n    if b:\n        break"),
}
STAYS = {
    "one test": "while a:\n    c()",
    "a test on one line": "while a and b:\n    c()",
    "a test on two lines": "while (a and\n       b):\n    c()",
    "a test on two lines that begins with a word": "while (a\n       and b):\n\n    c()",
    "a test on two lines, and no room for a way out": "while (a and\n           not b):\n    c()",
    "alternatives": "while (a or\n       b):\n        c()",
    "no room for a way out": "while (a and\n       not b):\n    c()",
    "no room for a way out, in the column": "while (a and\n           not b and c):\n    d()",
    "a body further in": "while (a\n       and b):\n        c()",
    "a body further in, in the column": "while (a\n    and  b):\n        c()",
    "a part on a line of its own, right above the body": "while (a and\n       b):\n    c()",
    "the first part below": "while (a and b and\n       c):\n\n    d()",
    "no line for a break": "while a and \\\n           b:\n    c()",
    "no line for a break, with not": "while a and \\\n   not b:\n    c()",
    "in the column, and the body is not further in": "while a and \\\n       b:\n\n    c()",
    "in the column of a way out, and the body further in": "while a and \\\n           b:\n\n        c()",
    "below the operand before, with a word": "while a and \\\n       b \\\n       and c:\n\n    d()",
    "a constant": "while True:\n    c()",
}


def restored(form: str, source: str) -> str:
    return written(lambda body: split_tests(body, Columns(body)), form, source)


@pytest.mark.parametrize("case", PARTED)
def test_tests_of_statements_are_parted(case: str) -> None:
    form, source = PARTED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_a_test_of_the_loop_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize("source", ["z", "a", "a\nc()"])
def test_without_places_a_test_stays(source: str) -> None:
    assert restored("while a and b:\n    c()", source) == "while a and b:\n    c()"
