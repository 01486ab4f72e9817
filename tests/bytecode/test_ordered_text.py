"""Constants as text: sets in an order that no hash decides."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from depyf.bytecode.ordered_text import ordered_text

LETTERS = "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'"


class Pair(NamedTuple):
    one: int
    other: int


@pytest.mark.parametrize(
    "value", [None, 1.5, "a", (), (1,), ((), (1, "b")), Pair(1, 2), [{2}], frozenset(), set(), {1}, frozenset({(1,)})]
)
def test_the_order_of_members_is_all_that_differs(value: object) -> None:
    assert ordered_text(value) == repr(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (frozenset("hgfedcba"), f"frozenset({{{LETTERS}}})"),
        (set("hgfedcba"), f"{{{LETTERS}}}"),
        ((1, (frozenset("hgfedcba"),)), f"(1, (frozenset({{{LETTERS}}}),))"),
        ({frozenset("hgfedcba"), "a"}, f"{{'a', frozenset({{{LETTERS}}})}}"),
    ],
)
def test_members_are_in_the_order_of_their_texts(value: object, text: str) -> None:
    assert ordered_text(value) == text


def test_depth_is_no_limit() -> None:
    deep: object = ()
    for _ in range(10_000):
        deep = (deep,)
    assert len(ordered_text(deep)) == 30_002
