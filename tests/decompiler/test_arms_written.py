"""Statements behind a body that never falls through, where columns show an `else`: the form that the code gives, and
its source."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.arms import restore_arms
from depyf.decompiler.passes.source_form.columns import Columns
from tests.decompiler.placing import plain, written

UNITS = "\n".join(f"u{number}()" for number in range(12))
"""Statements that show how far blocks are indented."""
GUARD = "if x:\n    return y\n"

RESTORED = {
    "an else": (GUARD + "b()", GUARD + "else:\n    b()"),
    "an elif": (GUARD + "if a:\n    return c", GUARD + "elif a:\n    return c"),
    "an elif in brackets": (GUARD + "if a < b:\n    return c", GUARD + "elif ((a < b)):\n    return c"),
    "the else of a loop": ("while a:\n    b()\nc()", "while a:\n    b()\nelse:\n    c()"),
    "what follows": (GUARD + "else:\n    b()", GUARD + "b()"),
    "copies of a return": ("if a:\n    b()\n    return\nreturn", "if a:\n    b()\nreturn"),
    "copies of a constant": (
        "if a:\n    b()\n    return 1\nelse:\n    c()\nreturn 1",
        "if a:\n    b()\nelse:\n    c()\nreturn 1",
    ),
}
STAYS = {
    "it has an else, and what follows stands before it": (
        GUARD + "else:\n    b()\nreturn d",
        "return d\n" + GUARD + "else:\n    b()",
    ),
    "the else of a try with a finally": (
        "try:\n    a()\nexcept E:\n    return b\nelse:\n    c()\nfinally:\n    d()",
        "try:\n    a()\nexcept E:\n    return b\nfinally:\n    d()\nc()",
    ),
    "two returns": ("if a:\n    b()\n    return\nreturn", "if a:\n    b()\n    return\nreturn"),
    "returns of other constants": ("if a:\n    b()\n    return 1\nreturn 2", "if a:\n    b()\nreturn 2"),
    "returns of variables": ("if a:\n    b()\n    return c\nreturn c", "if a:\n    b()\nreturn c"),
    "`not` before `in`": (GUARD + "if a not in b:\n    return c", GUARD + "if not a in b:\n    return c"),
    "a test without a place": (GUARD + "if a:\n    return c", GUARD),
    "a loop that has an else": ("while a:\n    b()\nelse:\n    c()\nd()", "while a:\n    b()\nelse:\n    d()"),
    "a try that has an else": (
        "try:\n    a()\nexcept E:\n    return b\nelse:\n    c()\nd()",
        "try:\n    a()\nexcept E:\n    return b\nelse:\n    d()",
    ),
    "no place of the test": (GUARD + "b()", "b()"),
    "a test in brackets behind a loop": (
        "while x:\n    y()\nif a:\n    c()",
        "while x:\n    y()\nif (((a))):\n    c()",
    ),
}


def restored(form: str, source: str) -> str:
    def restore(body: list[ast.stmt]) -> None:
        restore_arms(body, Columns(body))

    return written(restore, form, f"{source}\n{UNITS}")


@pytest.mark.parametrize("case", RESTORED)
def test_an_arm_is_where_columns_show_it(case: str) -> None:
    form, source = RESTORED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_other_statements_stay(case: str) -> None:
    form, source = STAYS[case]
    assert restored(form, source) == plain(form)
