"""`a < b < c` at the beginning of every kind of test: b is computed once."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

SOURCE = """
def f(a, b, c, d):
    if not a < b <= c or d:
        return 1
    return 2

def g(a, b, c, d):
    if not a < b() <= c and d:
        return 1
    return 2

def k(a, b, c, d):
    assert 0 <= a <= b
    assert c and 0 <= a <= b
    d.a = a

def h(a, b, c, d):
    while not a < b() <= c < d or d:
        a()
"""


@every_version
def test_a_chain_stands_in_any_test(version: tuple[int, int]) -> None:
    assert exact(SOURCE, version).count(" <= c") == 3
