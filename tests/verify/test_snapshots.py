"""Tuples of lists that others have seen: one in a moment, another after anything that can be observed."""

from __future__ import annotations

import pytest

from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.verify.assumptions import NO_ASSUMPTIONS
from depyf.verify.bisimulate import bisimulate
from depyf.verify.flow import Flow
from tests.verify.assemble import view

TEXT = "def f(a, b):\n x = []\n g(x)\n {}"


def listing(text: str) -> Listing:
    """Return the listing of the end of a function that shows a list `x` to others first."""
    return normalise(view(TEXT.format(text)))


def by_hand(text: str) -> Listing:
    """Return it with LIST_TO_TUPLE of the list itself, in the place of what a source has for it."""
    built = listing(text)
    extends = next(place for place, item in enumerate(built.instructions) if item.op == "LIST_EXTEND")
    builds = max(place for place, item in enumerate(built.instructions[:extends]) if item.op == "BUILD_LIST")
    del built.instructions[extends], built.instructions[builds]
    return built


def proven(original: Listing, text: str) -> bool:
    """Return whether a text is proven to do what a listing does."""
    return bisimulate(Flow(original), Flow(listing(text)), NO_ASSUMPTIONS).reason is None


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("t = (*x,); h; return t", True),
        ("y = []; y.extend(x); h; return (*y,)", False),
        ("h; return (*x,)", False),
        ("t = (*x,); h; return x", False),
        ("t = (*x, 1); h; return t", False),
        ("t = [*x]; h; return t", False),
        ("t = (*a,); h; return t", False),
    ],
)
def test_a_tuple_is_of_what_is_in_the_list_then(text: str, same: bool) -> None:
    assert proven(by_hand("t = (*x,); h; return t"), text) == same


@pytest.mark.parametrize(("text", "same"), [("return h", True), ("(*x,); return h", True), ("(*a,); return h", False)])
def test_a_tuple_that_nobody_takes_is_nothing(text: str, same: bool) -> None:
    assert proven(by_hand("(*x,); return h"), text) == same
