"""One `break` leaves one loop: what leaves two has two of them."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

SOURCE = """
def f(a):
    for x in a:
        try:
            for task in x:
                break
            else:
                b
            break
        finally:
            c
    d
"""


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_behind_another_in_a_finally(version: tuple[int, int]) -> None:
    assert "state" not in exact(SOURCE, version)
