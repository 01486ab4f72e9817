"""Tests whose arm does nothing: the form that the code gives, and the source it is of."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.splits import split_tests
from tests.decompiler.placing import plain, written

PARTED = {
    "an elif behind it": ("if not a and b:\n    c()\nd()", "if a:\n    pass\nelif b:\n    c()\nd()"),
    "an elif with more tests": (
        "if not a and b and c:\n    d()",
        "if a:\n    pass\nelif b and c:\n    d()",
    ),
    "an else": ("if not a:\n    b()", "if a:\n    pass\nelse:\n    b()"),
    "a test that is inside": ("if not a:\n    if b:\n        c()", "if a:\n    pass\nelif b:\n    c()"),
    "a test inside that has not": ("if not a:\n    if not b:\n        c()", "if a:\n    pass\nelif not b:\n    c()"),
    "a test that is inside and has an else": (
        "if not a:\n    if b:\n        c()\n    else:\n        d()",
        "if a:\n    pass\nelif b:\n    c()\nelse:\n    d()",
    ),
    "in an elif, with an elif behind it": (
        "if x:\n    y()\nelif not a and b:\n    c()",
        "if x:\n    y()\nelif a:\n    pass\nelif b:\n    c()",
    ),
    "in an elif, with an else": (
        "if x:\n    y()\nelif not a:\n    b()",
        "if x:\n    y()\nelif a:\n    pass\nelse:\n    b()",
    ),
}
STAYS = {
    "room for not": "if not a and b:\n    c()",
    "room for not, alone": "if not a:\n    b()",
    "no not": "if a and b:\n    c()",
    "alternatives": "if not a or b:\n    c()",
    "a test inside": "if not a:\n    if b:\n        c()",
    "more than a test inside": "if not a:\n    if b:\n        c()\n    d()",
    "an elif": "if x:\n    y()\nelif not a and b:\n    c()",
    "an elif with room for not, alone": "if x:\n    y()\nelif not a:\n    b()",
    "an else that holds more": "if x:\n    y()\nelse:\n    if not a:\n        b()\n    c()",
    "an else": "if not a:\n    b()\nelse:\n    c()",
}


def restored(form: str, source: str, *, is_fused: bool = False) -> str:
    def restore(body: list[ast.stmt]) -> None:
        for node in ast.walk(ast.Module(body, [])):
            if is_fused and isinstance(node, ast.Compare):
                node.fused = True  # type: ignore[attr-defined]
        split_tests(body, Columns(body))

    return written(restore, form, source)


@pytest.mark.parametrize("case", PARTED)
def test_an_arm_that_does_nothing_is_written(case: str) -> None:
    form, source = PARTED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_a_test_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize(
    "form", ["if not a:\n    if b:\n        c()\n    d()", "if not a or b:\n    c()", "if not a:\n    b()\n    c()"]
)
def test_what_is_no_elif_stays(form: str) -> None:
    assert restored(form, "if a:\n    pass\nelif b:\n    c()\nd()") == plain(form)


@pytest.mark.parametrize("source", ["z", "a", "b", "x", "a\nb", "x\na", "x\nb()"])
@pytest.mark.parametrize(
    "form",
    [
        "if not a and b:\n    c()", "if not a:\n    b()", "if not a:\n    if b:\n        c()",
        "if x:\n    y()\nelif not a and b:\n    c()", "if x:\n    y()\nelif not a:\n    b()",
    ],
)
def test_without_places_a_test_stays(form: str, source: str) -> None:
    assert restored(form, source) == plain(form)


OF_NONE = {
    "a test inside": (
        "if a is not None:\n    if b:\n        c()",
        "if a is None:\n    pass\nelif b:\n    c()",
    ),
    "behind another arm": (
        "if not a and b is not None:\n    if c:\n        d()",
        "if a:\n    pass\nelif b is None:\n    pass\nelif c:\n    d()",
    ),
    "of an elif": (
        "if x:\n    y()\nelif a is None:\n    if b:\n        c()",
        "if x:\n    y()\nelif a is not None:\n    pass\nelif b:\n    c()",
    ),
    "of two": (
        "if x:\n    y()\nelif a is None:\n    if b is None:\n        if c:\n            d()",
        "if x:\n    y()\nelif a is not None:\n    pass\nelif b is not None:\n    pass\nelif c:\n    d()",
    ),
}


@pytest.mark.parametrize("case", OF_NONE)
def test_a_jump_that_compares_with_none_has_as_much_room_for_both(case: str) -> None:
    form, source = OF_NONE[case]
    assert restored(form, source, is_fused=True) == plain(source) != plain(form)


@pytest.mark.parametrize(
    "form",
    ["if a is not None:\n    b()", "if a is not None and b:\n    c()", "if x:\n    y()\nelif a is None:\n    b()"],
)
def test_a_jump_that_compares_with_none_stays(form: str) -> None:
    """Nothing but an `elif` behind it tells."""
    assert restored(form, form, is_fused=True) == plain(form)
