"""What stands behind a test and is done in one arm of it: the form that the code gives, and the source it is of."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.forms import Block, rewrite
from depyf.decompiler.passes.source_form.splits import Splits
from tests.decompiler.placing import plain, written

MOVED = {
    "behind an arm that leaves": (
        "if a:\n    b()\n    return c",
        "if a:\n    b()\nelse:\n    return\nreturn c",
    ),
    "two statements behind": (
        "if a:\n    b()\n    c()\n    d()",
        "if a:\n    b()\nelse:\n    return\nc()\nd()",
    ),
    "behind an arm that does more": (
        "if a:\n    b()\n    return c\nelse:\n    d()",
        "if a:\n    b()\nelse:\n    d()\n    return\nreturn c",
    ),
    "an else that leaves": (
        "if a:\n    b()\nelse:\n    c()",
        "if a:\n    b()\n    return\nc()",
    ),
    "an else that leaves, and ends with a test": (
        "if a:\n    b()\nelif c:\n    d()",
        "if a:\n    b()\n    return\nif c:\n    d()",
    ),
    "a test with not": (
        "if not a:\n    b()\n    return c",
        "if not a:\n    b()\nelse:\n    return\nreturn c",
    ),
}
STAYS = {
    "all to the right": "if a:\n    b()\n    return c",
    "an elif": "if a:\n    b()\nelif c:\n    d()",
    "an elif with not": "if a:\n    b()\nelif not c:\n    d()",
    "an else": "if a:\n    b()\nelse:\n    c()",
    "all on one line": "if a: b()\nelse: c()",
    "a test with a bracket": "if (a):\n    b()\nelse:\n    c()",
}


def moved(form: str, source: str, end: ast.stmt | None = None) -> str:
    def restore(body: list[ast.stmt]) -> None:
        block = Block(body, end or ast.Return(value=None))
        rewrite(block, len(body) - 1, (Splits(Columns(body)).followed,))

    return written(restore, form, source)


@pytest.mark.parametrize("case", MOVED)
def test_what_stands_in_the_column_of_a_test_is_behind_it(case: str) -> None:
    form, source = MOVED[case]
    assert moved(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_an_arm_stays(case: str) -> None:
    assert moved(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize(
    ("form", "source"),
    [
        ("if a:\n    b()\nelse:\n    c()", "x"),
        ("if a:\n    b()\n    return c", "a\nb()"),
        ("if a:\n    b()\n    return c\nelse:\n    return d", "if a:\n    b()\nelse:\n    return d\nreturn c"),
        ("if a:\n    return b\nelse:\n    c()", "if a:\n    return b\nc()"),
        ("if a:\n    if b:\n        d()\nelse:\n    c()", "if a:\n    if b:\n        d()\nc()"),
        ("if a:\n    b()\n    c()\n    d()", "if x:\n    if y:\n        if a:\n            b()\n        c()\n    d()"),
    ],
    ids=["no places", "no place behind", "both leave", "one leaves", "one ends with a test", "behind the outer"],
)
def test_where_an_arm_leaves_by_itself_it_stays(form: str, source: str) -> None:
    assert moved(form, source) == plain(form)


def test_an_arm_that_goes_on_with_a_loop_stays() -> None:
    """There `continue` would be behind the test, as often as not."""
    form, source = "if a:\n    b()\nelse:\n    c()", "if a:\n    b()\n    continue\nc()"
    assert moved(form, source, ast.Continue()) == plain(form)
    form, source = "if a:\n    b()\n    c()", "if a:\n    b()\nelse:\n    continue\nc()"
    assert moved(form, source, ast.Continue()) == plain(source)
