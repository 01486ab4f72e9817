"""Comprehensions whose variables are cells: of the function around, of their own, or of both."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

SOURCE = """
def f(a):
    base = 1
    g = lambda: base
    x = [h(base) for base in a]
    y = [lambda: base for base in a]
    z = {base: [base for base in q if base] for base, q in a}
    w = [[lambda: (base, c) for c in base] for base in a if base]
    v = [lambda: c for c in a if c for d in c]
    return base

def k(a):
    return [x + y for x in [lambda: x for x in a] for y in x]
"""


@every_version
def test_variables_of_comprehensions_come_back(version: tuple[int, int]) -> None:
    assert "__closure__" not in exact(SOURCE, version)
