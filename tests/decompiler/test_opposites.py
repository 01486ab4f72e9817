"""Tests with as few `not` as possible."""

from __future__ import annotations

import pytest

from depyf.decompiler.passes.flow.opposites import write_opposites
from tests.decompiler.parsed import parsed, shown


def written(text: str, *, negates: bool = True) -> str:
    body = parsed(text)
    write_opposites(body, negates=negates)
    return shown(body)


@pytest.mark.parametrize(
    ("test", "given"),
    [
        ("not (a or b)", "not a and not b"),
        ("m and not (not a or b)", "m and a and not b"),
        ("m or not (not a or b)", "m or a and not b"),
        ("not (not a and b)", "a or not b"),
        ("not (a and b)", "not (a and b)"),
        ("a", "a"),
        ("not a", "not a"),
        ("-(a or b)", "-(a or b)"),
        ("a and b", "a and b"),
    ],
)
@pytest.mark.parametrize("head", ["if {}:\n    c()", "while {}:\n    c()", "assert {}"])
def test_a_not_goes_inside_where_that_is_as_short(head: str, test: str, given: str) -> None:
    assert written(head.format(test)) == shown(parsed(head.format(given)))


EMPTY = "if {}:\n    pass\nelse:\n    b()"


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (EMPTY.format("a in c"), "if not a in c:\n    b()"),
        (EMPTY.format("a"), EMPTY.format("a")),
        (EMPTY.format("a in c and b"), EMPTY.format("a in c and b")),
        (EMPTY.format("a in c").replace("pass", "d()"), EMPTY.format("a in c").replace("pass", "d()")),
        ("if a in c:\n    pass", "if a in c:\n    pass"),
    ],
)
def test_a_comparison_with_an_empty_arm_is_negated(text: str, given: str) -> None:
    assert written(text, negates=False) == shown(parsed(given))
    assert written(text) == shown(parsed(text))
