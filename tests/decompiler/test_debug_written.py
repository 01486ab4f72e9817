"""Tests of `__debug__`, which leave nothing but their locations in the code."""

from __future__ import annotations

import pytest

from depyf.bytecode.normalise import normalise
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.debug import restore_debug
from depyf.decompiler.passes.source_form.splits import split_tests
from tests.bytecode.listings import compiled
from tests.decompiler.placing import plain, written

PUT = {
    "one statement": ("a()", "if __debug__:\n    a()"),
    "two statements, and one behind": ("a()\nb()\nc()", "if __debug__:\n    a()\n    b()\nc()"),
    "a statement before": ("a()\nb()", "a()\nif __debug__:\n    b()"),
    "in an arm": ("if x:\n    a()\n    b()", "if x:\n    if __debug__:\n        a()\n    b()"),
    "two of them": ("a()\nb()\nc()", "if __debug__:\n    a()\nb()\nif __debug__:\n    c()"),
    "the first statement that stands there": (
        "while w:\n    if x:\n        a()\nif y:\n    b()",
        "while w:\n    if x:\n        if __debug__:\n            a()\nif y:\n            b()",
    ),
    "a statement without a location": ("a()\npass", "if __debug__:\n    a()\npass"),
    "a compound statement": ("if a:\n    b()\nc()", "if __debug__:\n    if a:\n        b()\nc()"),
    "the last one in a loop": ("for x in y:\n    a()\n    b()", "for x in y:\n    a()\n    if __debug__:\n        b()"),
}


def restored(form: str, source: str, shown: str | None = None) -> str:
    """Return the statements of a form, with the locations of a source, in the code of another one if that is given."""
    listing = normalise(compiled(shown or source, (3, 13)))

    def restore(body: object) -> None:
        assert isinstance(body, list)
        restore_debug(body, Columns(body, listing))

    return written(restore, form, source)


@pytest.mark.parametrize("case", PUT)
def test_what_is_to_the_right_of_it_is_under_it(case: str) -> None:
    form, source = PUT[case]
    assert restored(form, source) == plain(source) != plain(form)

FOUR = "if x:\n    if y:\n    {0}{1}\n    b()\n    b()\n    b()\n    b()\n    b()\n    b()\n    b()"
THREE = "if x:\n   b()\n   c()\n   d()\n   e()\n\na()"


@pytest.mark.parametrize(
    ("form", "source", "shown"),
    [
        ("a()", "\na()", "if __debug__:\n    a()"),
        ("a()\nb()", "\na()\nb()", "if __debug__:\n    a()"),
        ("a()", "a()", "x = 1\nif __debug__:\n    a()"),
        ("a()", "if x:\n    a()", "__debug__\na()"),
        ("a()", "if x:\n    a()", "(__debug__)\na()"),
        (FOUR.format("        ", "a()"), FOUR.format("        ", "a()"), "if x:\n  if  (__debug__):\n      a()"),
        (FOUR.format("      ", "a()"), FOUR.format("      ", "a()"), "if  (__debug__):\n      a()"),
        (THREE, THREE, "\n\n\n\n\n__debug__\na()"),
        ("a()", "if xxxxxxxxx:\n        a()", "if 0 or 1:\n        a()"),
    ],
)
def test_locations_that_are_no_such_test(form: str, source: str, shown: str) -> None:
    assert restored(form, source, shown) == plain(form)


BEFORE = {
    "one test": ("if a:\n    b()", "if __debug__ and a:\n    b()"),
    "two tests": ("if a and c:\n    b()", "if __debug__ and a and c:\n    b()"),
    "with not": ("if not a:\n    b()", "if __debug__ and not a:\n    b()"),
    "alternatives": ("if a or c:\n    b()", "if __debug__ and a or c:\n    b()"),
}


def restored_before(form: str, source: str) -> str:
    return written(lambda body: split_tests(body, Columns(body)), form, source)


@pytest.mark.parametrize("case", BEFORE)
def test_room_for_it_before_a_test(case: str) -> None:
    form, source = BEFORE[case]
    assert restored_before(form, source) == plain(source.replace("a or c", "(a or c)"))


@pytest.mark.parametrize("source", ["if a:\n    b()", "if xxxxxxxxx and a:\n    b()", "while a:\n    b()", "z"])
def test_no_room_for_it(source: str) -> None:
    form = "if a:\n    b()" if source == "z" else source
    assert restored_before(form, source) == plain(form)
